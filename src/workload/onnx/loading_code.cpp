// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/loading_code.hpp"

#include <cctype>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "schema/catalog.hpp"
#include "workload/onnx/provider_properties.hpp"
#include "workload/onnx/session_settings.hpp"

namespace ridgeline::workload {
namespace {

using schema::ParamScope;
using schema::Value;

/// A text as a literal of Python and of C++.
std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string level_name(const Value& value) {
  std::string name = "ORT_";
  if (value.as_text() != "disable_all") name += "ENABLE_";
  for (const char c : value.as_text()) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string mode_name(const Value& value) { return value.as_text() == "parallel" ? "ORT_PARALLEL" : "ORT_SEQUENTIAL"; }

/// How each catalogue row of scope session_option is written; a test holds the two tables together.
struct OptionRow {
  std::string_view key;
  std::string (*python)(const Value&);
  std::string (*cpp)(const Value&);
};
constexpr OptionRow kOptions[] = {
    {"intra_op_num_threads", [](const Value& v) { return "options.intra_op_num_threads = " + v.to_text(); },
     [](const Value& v) { return fmt::format("options.SetIntraOpNumThreads({});", v.to_text()); }},
    {"inter_op_num_threads", [](const Value& v) { return "options.inter_op_num_threads = " + v.to_text(); },
     [](const Value& v) { return fmt::format("options.SetInterOpNumThreads({});", v.to_text()); }},
    {"execution_mode", [](const Value& v) { return "options.execution_mode = ort.ExecutionMode." + mode_name(v); },
     [](const Value& v) { return fmt::format("options.SetExecutionMode({});", mode_name(v)); }},
    {"graph_optimization_level",
     [](const Value& v) { return "options.graph_optimization_level = ort.GraphOptimizationLevel." + level_name(v); },
     [](const Value& v) { return fmt::format("options.SetGraphOptimizationLevel({});", level_name(v)); }},
    {"enable_mem_pattern",
     [](const Value& v) { return fmt::format("options.enable_mem_pattern = {}", v.as_bool() ? "True" : "False"); },
     [](const Value& v) { return fmt::format("options.{}MemPattern();", v.as_bool() ? "Enable" : "Disable"); }},
    {"enable_cpu_mem_arena",
     [](const Value& v) { return fmt::format("options.enable_cpu_mem_arena = {}", v.as_bool() ? "True" : "False"); },
     [](const Value& v) { return fmt::format("options.{}CpuMemArena();", v.as_bool() ? "Enable" : "Disable"); }},
    {"use_deterministic_compute",
     [](const Value& v) {
       return fmt::format("options.use_deterministic_compute = {}", v.as_bool() ? "True" : "False");
     },
     [](const Value& v) { return fmt::format("options.SetDeterministicCompute({});", v.as_bool()); }},
};

/// What a configuration comes to, in the runtime's words.
struct Parts {
  std::vector<std::string> python;
  std::vector<std::string> cpp;
  ProviderOptions options;
  std::vector<std::string> others;  ///< "parallel_sessions=2"
};

base::Result<Parts> parts_of(const schema::TrialSpec& spec) {
  Parts parts;
  for (const auto& [key, value] : spec.configuration.values()) {
    RL_TRY_ASSIGN(const auto* param, schema::require_param(key));
    if (param->scope == ParamScope::session_option) {
      for (const auto& row : kOptions) {
        if (row.key != key) continue;
        parts.python.push_back(row.python(value));
        parts.cpp.push_back(row.cpp(value));
      }
    } else if (param->scope == ParamScope::session_config) {
      const auto entry = fmt::format("{}, {}", literal(param->target), literal(ort_text(value)));
      parts.python.push_back(fmt::format("options.add_session_config_entry({})", entry));
      parts.cpp.push_back(fmt::format("options.AddConfigEntry({});", entry));
    } else if (param->scope == ParamScope::provider_option) {
      parts.options.emplace_back(param->target, provider_text(*param, value));
    } else {
      parts.others.push_back(fmt::format("{}={}", key, value.to_text()));
    }
  }
  RL_TRY_ASSIGN(parts.options,
                fold_properties(parts.options, spec.plugin ? spec.plugin->device : property_device(parts.options)));
  return parts;
}

/// "{"a": "1"}" of Python, "{{"a", "1"}}" of C++.
std::string python_options(const ProviderOptions& options) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : options) pairs.push_back(literal(name) + ": " + literal(value));
  return fmt::format("{{{}}}", fmt::join(pairs, ", "));
}
std::string cpp_options(const ProviderOptions& options) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : options) pairs.push_back(fmt::format("{{{}, {}}}", literal(name), literal(value)));
  return fmt::format("{{{}}}", fmt::join(pairs, ", "));
}

std::string python_code(const schema::TrialSpec& spec, const Parts& parts) {
  const auto& row = schema::provider_of(spec.provider);
  std::string out = "import onnxruntime as ort\n\noptions = ort.SessionOptions()\n";
  for (const auto& line : parts.python) out += line + "\n";
  const auto model = literal(spec.workload.location);
  if (spec.plugin) {
    const auto& plugin = *spec.plugin;
    out += fmt::format(
        "ort.register_execution_provider_library({0}, {1})\n"
        "devices = [d for d in ort.get_ep_devices()\n"
        "           if d.ep_name == {0} and d.device.type == ort.OrtHardwareDeviceType.{2}]\n"
        "options.add_provider_for_devices(devices[:1], {3})\n"
        "session = ort.InferenceSession({4}, options)\n",
        literal(plugin.ep_name), literal(plugin.library_path), plugin.device, python_options(parts.options), model);
  } else {
    auto providers = literal(row.library_name);
    if (!parts.options.empty()) providers = fmt::format("({}, {})", providers, python_options(parts.options));
    for (const auto& id : row.fallbacks) providers += ", " + literal(schema::provider_of(id).library_name);
    out += fmt::format("session = ort.InferenceSession({}, options, providers=[{}])\n", model, providers);
  }
  if (!parts.others.empty()) out += fmt::format("# not an option of a session: {}\n", fmt::join(parts.others, ", "));
  return out;
}

std::string append_cuda(const ProviderOptions& options) {
  return "Ort::CUDAProviderOptions cuda;\n  cuda.Update(" + cpp_options(options) +
         ");\n  options.AppendExecutionProvider_CUDA_V2(*cuda);";
}
std::string append_tensorrt(const ProviderOptions& options) {
  return "Ort::TensorRTProviderOptions tensorrt;\n  tensorrt.Update(" + cpp_options(options) +
         ");\n  options.AppendExecutionProvider_TensorRT_V2(*tensorrt);";
}
std::string append_openvino(const ProviderOptions& options) {
  return "options.AppendExecutionProvider_OpenVINO_V2(" + cpp_options(options) + ");";
}

/// As kAppend of ort_providers.cpp has them.
const std::map<std::string_view, std::string (*)(const ProviderOptions&)> kAppendLines{
    {"cuda", append_cuda}, {"tensorrt", append_tensorrt}, {"openvino", append_openvino}};

std::string append_plugin(const schema::ProviderPlugin& plugin, const ProviderOptions& options) {
  return fmt::format(
      "env.RegisterExecutionProviderLibrary({0}, {1});\n"
      "  for (const auto& device : env.GetEpDevices()) {{\n"
      "    if (std::string(device.EpName()) != {0} || device.Device().Type() != OrtHardwareDeviceType_{2}) continue;\n"
      "    options.AppendExecutionProvider_V2(env, {{device}}, std::unordered_map<std::string, std::string>{3});\n"
      "    break;\n"
      "  }}",
      literal(plugin.ep_name), literal(plugin.library_path), plugin.device, cpp_options(options));
}

/// Up to the session's options.
std::string cpp_opening(const schema::TrialSpec& spec, RuntimeAccess library) {
  if (library == RuntimeAccess::linked)
    return "#include <onnxruntime_cxx_api.h>\n\n"
           "#include <string>\n"
           "#include <unordered_map>\n\n"
           "Ort::Session open_session(Ort::Env& env, const char* model) {\n"
           "  Ort::SessionOptions options;\n";
  const auto numbers = base::split(spec.runtime.version, '.');
  return fmt::format(
      "#define ORT_API_MANUAL_INIT\n"
      "#include <dlfcn.h>\n"
      "#include <onnxruntime_cxx_api.h>\n\n"
      "#include <string>\n"
      "#include <unordered_map>\n\n"
      "// A program that is linked to one ONNX Runtime cannot load another: this one opens it.\n"
      "Ort::Session open_session(const char* model) {{\n"
      "  void* library = dlopen({}, RTLD_NOW | RTLD_LOCAL);\n"
      "  const auto get = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, \"OrtGetApiBase\"));\n"
      "  Ort::InitApi(get()->GetApi({}));\n"
      "  static Ort::Env env;\n"
      "  Ort::SessionOptions options;\n",
      literal(spec.runtime.library_path), numbers.size() > 1 ? numbers[1] : "ORT_API_VERSION");
}

std::string cpp_code(const schema::TrialSpec& spec, const Parts& parts, RuntimeAccess library) {
  auto out = cpp_opening(spec, library);
  for (const auto& line : parts.cpp) out += "  " + line + "\n";
  if (spec.plugin)
    out += "  " + append_plugin(*spec.plugin, parts.options) + "\n";
  else if (const auto append = kAppendLines.find(spec.provider); append != kAppendLines.end())
    out += "  " + append->second(parts.options) + "\n";
  if (!parts.others.empty()) out += fmt::format("  // not an option of a session: {}\n", fmt::join(parts.others, ", "));
  return out + "  return Ort::Session(env, model, options);\n}\n";
}

}  // namespace

base::Result<schema::LoadingCode> loading_code(const schema::TrialSpec& spec, RuntimeAccess library) {
  RL_TRY_ASSIGN(const auto parts, parts_of(spec));
  schema::LoadingCode code;
  code.python = python_code(spec, parts);
  code.cpp = cpp_code(spec, parts, library);
  return code;
}

}  // namespace ridgeline::workload
