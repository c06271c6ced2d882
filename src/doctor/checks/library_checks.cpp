// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.hpp"
#include "doctor/checks/checks.hpp"
#include "doctor/load_error.hpp"
#include "doctor/messages.hpp"
#include "schema/messages.hpp"
#include "workload/onnx/cuda_libraries.hpp"
#include "workload/onnx/gpu_library_names.hpp"

namespace ridgeline::doctor {
namespace {

constexpr int kNewestCuda = 13;  // that ONNX Runtime is built for

Check library_check(std::string id, schema::Message title, CheckStatus status, schema::Message evidence,
                    schema::Message fix = {}, std::vector<std::string> commands = {}) {
  return make_check(CheckGroup::libraries, id, std::move(title), status, std::move(evidence), std::move(fix),
                    std::move(commands));
}

/// An installed copy looks beside itself before it looks for Python packages: hence the variable.
std::vector<std::string> gpu_package() {
  return {"pip install onnxruntime-gpu",
          "export RIDGELINE_ORT_LIBRARY=$(python3 -c \"import importlib.util as u; "
          "print(u.find_spec('onnxruntime').submodule_search_locations[0])\")/capi"};
}

/// A fix, and the lines to copy that do it.
struct Remedy {
  schema::Message fix;
  std::vector<std::string> commands;
};

/// The script where it lies, else the Python package.
Remedy gpu_build(const RuntimeFacts& runtime) {
  if (runtime.fetch_script.empty()) return {messages::fix_gpu_build(), gpu_package()};
  const auto command = runtime.fetch_script + " --gpu";
  return {messages::fix_run_gpu_script(command), {command}};
}

schema::Message plugin_message(const schema::PluginLibrary& plugin) {
  messages::Plugin seen{.name = plugin.package.empty() ? plugin.library_path : plugin.package};
  for (const auto& offer : plugin.offers)
    seen.offers.push_back(messages::plugin_offer({.provider = offer.ep_name, .device = offer.device}));
  if (plugin.note) seen.reason = plugin.note->reason();
  return messages::plugin(seen);
}

/// "1.24.1 (OpenVINO, CPU); /x/libonnxruntime.so.1.24.1", and what it offers with its plug-ins. `found`: where, nullptr
/// where that is not known.
schema::Message runtime_message(const schema::RuntimeIdentity& identity, const schema::FoundRuntime* found) {
  messages::Runtime seen{.version = identity.version, .library = identity.library_path};
  for (const auto& name : identity.providers) {
    const auto* provider = schema::find_provider_named(name);
    seen.providers.push_back(provider != nullptr ? provider->title : name);
  }
  for (const auto& plugin : identity.plugins) seen.plugins.push_back(plugin_message(plugin));
  if (found != nullptr) {
    seen.place = found->place;
    seen.conflict = found->conflict();
  }
  return messages::runtime(seen);
}

Check runtime_check(const RuntimeFacts& runtime) {
  const auto says = [](CheckStatus status, schema::Message evidence, schema::Message fix = {},
                       std::vector<std::string> commands = {}) {
    return library_check("onnxruntime", messages::product("ONNX Runtime"), status, std::move(evidence), std::move(fix),
                         std::move(commands));
  };
  if (!runtime.identity) {
    using enum CheckStatus;
    const auto& script = runtime.fetch_script;
    if (runtime.error.code == base::ErrorCode::not_found) {
      if (script.empty())
        return says(fail, messages::no_library(), messages::fix_install_runtime(), {"pip install onnxruntime"});
      return says(fail, messages::no_library(), messages::fix_fetch_runtime(), {script, "pip install onnxruntime"});
    }
    const auto evidence = schema::messages::foreign(runtime.error.message);
    if (!runtime.error.hint.empty()) return says(fail, evidence, schema::messages::foreign(runtime.error.hint));
    if (script.empty()) return says(fail, evidence, messages::fix_other_library());
    return says(fail, evidence, messages::fix_run_script(script), {script});
  }
  const auto taken =
      std::find_if(runtime.found.begin(), runtime.found.end(), [](const auto& one) { return one.taken; });
  if (taken == runtime.found.end()) return says(CheckStatus::ok, runtime_message(*runtime.identity, nullptr));
  const auto evidence = runtime_message(*taken->identity, &taken->found);
  // Packages may well be for other hardware; a library that was named is to be used.
  const auto& plugins = taken->identity->plugins;
  const auto idle = std::find_if(plugins.begin(), plugins.end(),
                                 [](const auto& one) { return one.package.empty() && one.offers.empty(); });
  if (idle == plugins.end()) return says(CheckStatus::ok, evidence);
  return says(CheckStatus::warn, evidence,
              idle->note && !idle->note->hint.empty() ? idle->note->hint : messages::fix_name_plugin());
}

Check other_runtime_check(const FoundRuntimeFacts& one, std::size_t number) {
  const auto id = fmt::format("other_runtime.{}", number);
  const auto title = messages::title_other_runtime();
  if (one.identity) return library_check(id, title, CheckStatus::ok, runtime_message(*one.identity, &one.found));
  return library_check(
      id, title, CheckStatus::warn, messages::runtime_broken({.error = one.error.message, .place = one.found.place}),
      one.error.hint.empty() ? messages::fix_other_runtime() : schema::messages::foreign(one.error.hint));
}

Check telemetry_check(const RuntimeFacts& runtime) {
  std::vector<std::string> versions;
  for (const auto& one : runtime.found)
    if (one.telemetry) versions.push_back(one.identity->version);
  return library_check("telemetry", messages::title_telemetry(),
                       runtime.identity ? CheckStatus::ok : CheckStatus::skipped,
                       versions.empty()           ? messages::no_telemetry()
                       : runtime.telemetry_chosen ? messages::telemetry_chosen()
                                                  : messages::telemetry(versions));
}

Check provider_check(const Facts& facts) {
  const auto says = [](CheckStatus status, schema::Message evidence, Remedy remedy = {}) {
    return library_check("cuda_provider", messages::title_cuda_provider(), status, std::move(evidence),
                         std::move(remedy.fix), std::move(remedy.commands));
  };
  const auto& provider = schema::usual_gpu_provider();
  const auto& identity = facts.runtime.identity;
  if (!identity) return says(CheckStatus::skipped, messages::no_runtime_to_ask());
  const bool gpu = facts.driver.has_gpu();
  if (!identity->offers(provider)) {
    if (!gpu) return says(CheckStatus::skipped, messages::no_gpu());
    return says(CheckStatus::warn, messages::built_without_cuda(), gpu_build(facts.runtime));
  }
  const auto* note = identity->why_not(provider);
  if (note == nullptr)
    return says(CheckStatus::ok,
                messages::cuda_provider({.version = identity->version, .library = facts.runtime.cuda_provider}));
  if (!gpu) return says(CheckStatus::skipped, messages::no_gpu());
  const auto& [message, looked_in, hint, missing] = *note;
  Remedy remedy{hint.empty() ? messages::fix_see_troubleshooting() : hint, {}};
  if (!missing.empty()) {
    auto install = workload::pip_install_of(missing.front(), facts.runtime.cuda_major.value_or(kNewestCuda));
    if (missing.front() == provider.file)
      remedy = gpu_build(facts.runtime);
    else if (!install.empty())
      remedy.commands = {std::move(install)};
  }
  return says(CheckStatus::fail, message, std::move(remedy));
}

/// Of the libraries that a worker has loaded, those whose file name starts so: "/x/libcudnn.so.9 (9.19.0)".
std::vector<std::string> loaded(const schema::RuntimeIdentity& identity, std::string_view name) {
  std::vector<std::string> found;
  for (const auto& line : identity.loaded_libraries) {
    const auto path = line.substr(0, line.find(" ("));
    if (path.substr(path.rfind('/') + 1).rfind(name, 0) == 0) found.push_back(line);
  }
  return found;
}

/// nullptr when none of that name was found.
const LibraryFact* on_disk(const Facts& facts, std::string_view name) {
  const auto fact = std::find_if(facts.libraries.begin(), facts.libraries.end(),
                                 [&](const LibraryFact& one) { return one.name == name && !one.path.empty(); });
  return fact != facts.libraries.end() ? &*fact : nullptr;
}

schema::Message not_loaded(const LibraryFact& fact, bool see_provider = false) {
  return messages::not_loaded({.path = fact.path, .version = fact.version, .see_provider = see_provider});
}

/// Of the file's name, else of the version that it tells; 0 when neither does.
int release_of(const LibraryFact& fact) {
  const auto named = workload::major_version(fact.path);
  return named != 0 ? named : std::atoi(fact.version.c_str());
}

/// "pip install nvidia-cudnn-cu13" for "libcudnn.so".
std::string install_command(std::string_view file, const Facts& facts) {
  return workload::pip_install_of(file, facts.runtime.cuda_major.value_or(kNewestCuda));
}

std::string library_path_command(const std::string& file) {
  return fmt::format("export LD_LIBRARY_PATH={}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}",
                     file.substr(0, file.rfind('/')));
}

struct CudaPart {
  std::string_view id;
  std::string_view title;
  std::string_view file;
  schema::Message (*lost)();
};
constexpr std::array kCudaParts{CudaPart{"cuda_runtime", "CUDA runtime", "libcudart.so", &messages::lost_cuda_provider},
                                CudaPart{"cublas", "cuBLAS", "libcublas.so", &messages::lost_cuda_provider},
                                CudaPart{"cudnn", "cuDNN", "libcudnn.so", &messages::lost_convolutions}};

/// What keeps the provider from using a file. Empty: nothing does; an empty fix: install the right one.
struct Obstacle {
  schema::Message why;
  schema::Message fix;
};

Obstacle obstacle(const CudaPart& part, const LibraryFact* fact) {
  if (fact == nullptr) return {messages::file_missing(std::string(part.file)), {}};
  if (!fact->load_error.empty()) {
    const auto problem = explain_load_error(fact->load_error);
    return {messages::broken_library({.path = fact->path, .problem = problem.what}), problem.fix};
  }
  const auto release = release_of(*fact);
  if (fact->release == 0 || release == 0 || release == fact->release) return {};
  return {messages::wrong_release(
              {.path = fact->path, .version = fact->version, .release = release, .wanted = fact->release}),
          {}};
}

Check cuda_part_check(const CudaPart& part, const Facts& facts) {
  const auto says = [&](CheckStatus status, schema::Message evidence, schema::Message fix = {},
                        std::string command = {}) {
    return library_check(std::string(part.id), messages::product(std::string(part.title)), status, std::move(evidence),
                         std::move(fix),
                         command.empty() ? std::vector<std::string>{} : std::vector<std::string>{std::move(command)});
  };
  const auto& identity = facts.runtime.identity;
  const auto found = identity ? loaded(*identity, part.file) : std::vector<std::string>{};
  if (!found.empty()) return says(CheckStatus::ok, messages::loaded_libraries(found));
  const auto* fact = on_disk(facts, part.title);
  if (!facts.driver.has_gpu() || !identity || !identity->offers(schema::usual_gpu_provider())) {
    if (fact != nullptr && fact->load_error.empty()) return says(CheckStatus::ok, not_loaded(*fact));
    return says(CheckStatus::skipped, fact != nullptr           ? obstacle(part, fact).why
                                      : !facts.driver.has_gpu() ? messages::no_gpu()
                                                                : messages::no_cuda_provider());
  }
  const auto* note = identity->why_not(schema::usual_gpu_provider());
  const bool named = note != nullptr && std::any_of(note->missing.begin(), note->missing.end(),
                                                    [&](const auto& file) { return file.starts_with(part.file); });
  if (const auto [why, fix] = obstacle(part, fact); !why.empty())
    return says(named ? CheckStatus::fail : CheckStatus::warn,
                named ? messages::provider_unusable({.why = why, .lost = part.lost()})
                      : messages::unusable({.why = why, .lost = part.lost()}),
                fix.empty() ? messages::fix_install_for(facts.runtime.cuda_major.value_or(kNewestCuda)) : fix,
                install_command(part.file, facts));
  if (!named) return says(CheckStatus::ok, not_loaded(*fact));
  return says(CheckStatus::warn, not_loaded(*fact, true), messages::fix_library_path(),
              library_path_command(fact->path));
}

struct Optional {
  std::string_view name;
  std::string_view id;
  schema::Message (*lost)();
  std::string_view soname = {};   ///< its package is that of this library for the CUDA release at hand, or
  std::string_view command = {};  ///< this brings it
};
constexpr std::array kOptional{Optional{"TensorRT", "tensorrt", &messages::lost_tensorrt, "libnvinfer.so"},
                               Optional{"CUPTI", "cupti", &messages::lost_cupti},
                               Optional{"LibTorch", "libtorch", &messages::lost_libtorch, {}, "pip install torch"}};

std::string command_for(const Optional& library, const Facts& facts) {
  if (!library.soname.empty()) return install_command(library.soname, facts);
  if (!library.command.empty()) return std::string(library.command);
  return facts.runtime.cuda_major == 12 ? "pip install nvidia-cuda-cupti-cu12" : "pip install nvidia-cuda-cupti";
}

/// Absent optional libraries are no warning: most machines do not want them.
Check optional_check(const Optional& library, const Facts& facts) {
  const auto says = [&](CheckStatus status, schema::Message evidence, schema::Message fix = {}) {
    return library_check(std::string(library.id), messages::product(std::string(library.name)), status,
                         std::move(evidence), std::move(fix));
  };
  const auto* fact = on_disk(facts, library.name);
  if (fact == nullptr)
    return says(CheckStatus::skipped,
                messages::library_missing({.lost = library.lost(), .command = command_for(library, facts)}));
  if (!fact->load_error.empty()) {
    const auto problem = explain_load_error(fact->load_error);
    const bool needs_driver = !facts.driver.has_gpu() && problem.thing.find("libcuda.so") != std::string::npos;
    return says(needs_driver ? CheckStatus::skipped : CheckStatus::warn,
                messages::unusable({.why = messages::broken_library({.path = fact->path, .problem = problem.what}),
                                    .lost = library.lost()}),
                needs_driver ? schema::Message() : problem.fix);
  }
  return says(CheckStatus::ok, messages::library({.version = fact->version, .path = fact->path}));
}

/// Absent, it is no warning either.
Check video_check(const VideoFacts& video) {
  if (video.error.empty())
    return library_check("video", messages::title_video(), CheckStatus::ok,
                         messages::video({.version = video.version, .path = video.path}));
  return library_check("video", messages::title_video(), CheckStatus::skipped,
                       messages::no_video({.error = video.error, .fix = video.fix}));
}

}  // namespace

std::vector<Check> check_libraries(const Facts& facts) {
  std::vector<Check> checks{runtime_check(facts.runtime)};
  for (const auto& one : facts.runtime.found)
    if (!one.taken && (one.identity || !one.found.pinned)) checks.push_back(other_runtime_check(one, checks.size()));
  checks.push_back(telemetry_check(facts.runtime));
  checks.push_back(provider_check(facts));
  for (const auto& part : kCudaParts) checks.push_back(cuda_part_check(part, facts));
  for (const auto& library : kOptional) checks.push_back(optional_check(library, facts));
  checks.push_back(video_check(facts.video));
  return checks;
}

}  // namespace ridgeline::doctor
