// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/session_settings.hpp"

#include <algorithm>
#include <cstdlib>

#include "schema/catalog.hpp"
#include "workload/onnx/arena_config.hpp"
#include "workload/onnx/ort_providers.hpp"
#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using schema::ParamScope;
using schema::Value;

constexpr const char* kRecordAssignment = "session.record_ep_graph_assignment_info";
constexpr const char* kNoSynchronization = "disable_synchronize_execution_providers";
constexpr const char* kGraphId = "gpu_graph_id";
constexpr const char* kUseEnvAllocators = "session.use_env_allocators";
constexpr const char* kWeightsFile = "session.optimized_model_external_initializers_file_name";

/// Where a setter finds what it needs; `value` is already checked against the catalogue.
struct Setting {
  const OrtApi& api;
  int api_version;
  OrtSessionOptions* options;
  const Value& value;
};

base::Result<void> set_optimization_level(const Setting& s) {
  static constexpr std::pair<std::string_view, GraphOptimizationLevel> kLevels[] = {
      {"disable_all", ORT_DISABLE_ALL}, {"basic", ORT_ENABLE_BASIC}, {"extended", ORT_ENABLE_EXTENDED},
      {"layout", ORT_ENABLE_LAYOUT},    {"all", ORT_ENABLE_ALL},
  };
  constexpr int kFirstApiWithLayout = 23;
  for (const auto& [name, level] : kLevels) {
    if (name != s.value.as_text()) continue;
    if (level == ORT_ENABLE_LAYOUT && s.api_version < kFirstApiWithLayout)
      return base::fail(ErrorCode::unsupported, "needs ONNX Runtime 1.{}, this is 1.{}", kFirstApiWithLayout,
                        s.api_version);
    return check_ort(s.api, s.api.SetSessionGraphOptimizationLevel(s.options, level));
  }
  return base::fail(ErrorCode::internal, "a catalogue value that session_settings.cpp does not know");
}

struct SetterRow {
  std::string_view key;
  base::Result<void> (*apply)(const Setting&);
};

// One row for each catalogue row of scope session_option; a test holds the two tables together.
constexpr SetterRow kSetters[] = {
    {"intra_op_num_threads",
     [](const Setting& s) {
       return check_ort(s.api, s.api.SetIntraOpNumThreads(s.options, static_cast<int>(s.value.as_integer())));
     }},
    {"inter_op_num_threads",
     [](const Setting& s) {
       return check_ort(s.api, s.api.SetInterOpNumThreads(s.options, static_cast<int>(s.value.as_integer())));
     }},
    {"execution_mode",
     [](const Setting& s) {
       const auto mode = s.value.as_text() == "parallel" ? ORT_PARALLEL : ORT_SEQUENTIAL;
       return check_ort(s.api, s.api.SetSessionExecutionMode(s.options, mode));
     }},
    {"graph_optimization_level", set_optimization_level},
    {"enable_mem_pattern",
     [](const Setting& s) {
       return check_ort(s.api,
                        s.value.as_bool() ? s.api.EnableMemPattern(s.options) : s.api.DisableMemPattern(s.options));
     }},
    {"enable_cpu_mem_arena",
     [](const Setting& s) {
       return check_ort(s.api,
                        s.value.as_bool() ? s.api.EnableCpuMemArena(s.options) : s.api.DisableCpuMemArena(s.options));
     }},
    {"use_deterministic_compute",
     [](const Setting& s) { return check_ort(s.api, s.api.SetDeterministicCompute(s.options, s.value.as_bool())); }},
};

base::Result<void> apply_session_option(const schema::ParamDef& param, const Setting& setting) {
  for (const auto& row : kSetters)
    if (row.key == param.key) return row.apply(setting);
  return base::fail(ErrorCode::unsupported, "this build has no setter for it");
}

bool applies_to(const schema::ParamDef& param, const std::string& provider) { return schema::is_for(param, provider); }

base::Error in_setting(base::Error error, const schema::ParamDef& param, const Value& value) {
  return std::move(error).in(fmt::format("{}={}", param.key, value.to_text()));
}

}  // namespace

std::string ort_text(const Value& value) { return value.is_bool() ? (value.as_bool() ? "1" : "0") : value.to_text(); }

std::string provider_text(const schema::ParamDef& param, const Value& value) {
  return param.unit == "GB" ? fmt::format("{:.0f}", value.as_number() * 1e9) : ort_text(value);
}

base::Result<SessionSettings> SessionSettings::make(const OrtEnvironment& environment,
                                                    const schema::Configuration& configuration,
                                                    const std::string& provider, const SessionExtras& extras) {
  const auto& library = environment.library();
  const auto& api = library.api();
  OrtSessionOptions* options = nullptr;
  RL_TRY(check_ort(api, api.CreateSessionOptions(&options)));
  SessionHandle session(options, api.ReleaseSessionOptions);
  SessionSettings settings(api, std::move(session));
  settings.denormals_are_zero_ = configuration.get_or("set_denormal_as_zero", false).as_bool();
  RL_TRY(check_ort(api, api.SetSessionLogSeverityLevel(options, ORT_LOGGING_LEVEL_ERROR)));

  ProviderSetup setup{{}, extras.compute_stream, extras.plugin ? &*extras.plugin : nullptr};
  for (const auto& [key, value] : configuration.values()) {
    RL_TRY_ASSIGN(const auto* param, schema::require_param(key));
    RL_TRY(schema::check_value(*param, value));
    if (!applies_to(*param, provider))
      return base::fail(ErrorCode::invalid_argument, "{}={}: not an option of provider {}; it belongs to {}", key,
                        value.to_text(), provider, fmt::join(param->providers, ", "))
          .hint("leave it out");
    base::Result<void> applied;
    switch (param->scope) {
      case ParamScope::session_option:
        applied = apply_session_option(*param, {api, library.api_version(), options, value});
        break;
      case ParamScope::session_config:
        // An empty text is "unset": the runtime would try to parse it.
        if (const auto text = ort_text(value); !text.empty())
          applied = check_ort(api, api.AddSessionConfigEntry(options, param->target.c_str(), text.c_str()));
        break;
      case ParamScope::run_option:
        // Which graph a run uses is the caller's choice, member by member.
        if (key != "gpu_graph_id") settings.run_entries_.emplace_back(param->target, ort_text(value));
        break;
      case ParamScope::provider_option:
        if (auto text = provider_text(*param, value); !text.empty())
          setup.options.emplace_back(param->target, std::move(text));
        break;
      case ParamScope::arena_option: break;  // registered with the environment: SharedArena
      case ParamScope::execution:
      case ParamScope::torch_option: break;  // of no provider here
    }
    if (!applied) return tl::unexpected<base::Error>(in_setting(std::move(applied).error(), *param, value));
    if (param->scope == ParamScope::session_config && !ort_text(value).empty()) {
      RL_TRY_ASSIGN(settings.read_back_[key], config_entry(api, options, param->target.c_str()));
    }
  }
  if (sets_arena(configuration)) RL_TRY(check_ort(api, api.AddSessionConfigEntry(options, kUseEnvAllocators, "1")));
  for (const auto& [name, size] : extras.free_dimensions)
    RL_TRY(check_ort(api, api.AddFreeDimensionOverrideByName(options, name.c_str(), size)));
  if (extras.record_assignment) RL_TRY(check_ort(api, api.AddSessionConfigEntry(options, kRecordAssignment, "1")));
  if (!extras.optimized_model.empty()) {
    RL_TRY(check_ort(api, api.SetOptimizedModelFilePath(options, extras.optimized_model.c_str())));
    RL_TRY(check_ort(api, api.AddSessionConfigEntry(options, kWeightsFile, "weights")));
  }
  if (extras.compute_stream != nullptr) settings.run_entries_.emplace_back(kNoSynchronization, "1");
  if (!extras.profile.empty()) RL_TRY(check_ort(api, api.EnableProfiling(options, extras.profile.c_str())));
  RL_TRY_ASSIGN(const auto held, append_provider(environment, options, provider, setup));
  for (const auto& [key, value] : configuration.values()) {
    const auto* param = schema::find_param(key);
    if (param->scope != ParamScope::provider_option) continue;
    const auto found = held.find(param->target);
    if (found == held.end()) continue;
    const bool in_bytes = param->unit == "GB";
    settings.read_back_[key] =
        in_bytes ? fmt::format("{:g}", std::strtod(found->second.c_str(), nullptr) / 1e9) : found->second;
  }
  return settings;
}

base::Result<SessionSettings::RunHandle> SessionSettings::make_run_options(int graph_id) const {
  OrtRunOptions* created = nullptr;
  RL_TRY(check_ort(*api_, api_->CreateRunOptions(&created)));
  RunHandle options(created, api_->ReleaseRunOptions);
  for (const auto& [name, text] : run_entries_)
    RL_TRY(check_ort(*api_, api_->AddRunConfigEntry(created, name.c_str(), text.c_str())));
  if (graph_id != kOwnGraph)
    RL_TRY(check_ort(*api_, api_->AddRunConfigEntry(created, kGraphId, std::to_string(graph_id).c_str())));
  return options;
}

}  // namespace ridgeline::workload
