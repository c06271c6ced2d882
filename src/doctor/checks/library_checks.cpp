// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.hpp"
#include "doctor/checks/checks.hpp"
#include "doctor/load_error.hpp"
#include "workload/onnx/cuda_libraries.hpp"
#include "workload/onnx/gpu_library_names.hpp"

namespace ridgeline::doctor {
namespace {

constexpr int kNewestCuda = 13;  // that ONNX Runtime is built for

Check library_check(std::string id, std::string title, CheckStatus status, std::string evidence, std::string fix = {},
                    std::vector<std::string> commands = {}) {
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
  std::string fix;
  std::vector<std::string> commands;
};

/// The script where it lies, else the Python package.
Remedy gpu_build(const RuntimeFacts& runtime) {
  if (runtime.fetch_script.empty())
    return {"install a GPU build and name its folder: RIDGELINE_ORT_LIBRARY or --ort-library", gpu_package()};
  const auto command = runtime.fetch_script + " --gpu";
  return {fmt::format("run {}, or give --ort-library a GPU build", command), {command}};
}

/// "1.24.1 (OpenVINO, CPU); /x/libonnxruntime.so.1.24.1", and what it offers with its plug-ins.
std::string runtime_text(const schema::RuntimeIdentity& identity, const std::string& place) {
  std::vector<std::string> names;
  for (const auto& name : identity.providers) {
    const auto* provider = schema::find_provider_named(name);
    names.push_back(provider != nullptr ? provider->title : name);
  }
  auto text = fmt::format("{} ({}); {}", identity.version, fmt::join(names, ", "), identity.library_path);
  if (!place.empty()) text += "; from " + place;
  for (const auto& plugin : identity.plugins) {
    std::vector<std::string> offers;
    for (const auto& offer : plugin.offers) offers.push_back(fmt::format("{} on {}", offer.ep_name, offer.device));
    text += fmt::format("; plug-in {}: {}", plugin.package.empty() ? plugin.library_path : plugin.package,
                        offers.empty() ? (plugin.note ? plugin.note->reason() : "offers nothing here")
                                       : fmt::format("{}", fmt::join(offers, ", ")));
  }
  return text;
}

std::string found_text(const FoundRuntimeFacts& one) {
  auto text = runtime_text(*one.identity, one.found.place);
  if (const auto conflict = one.found.conflict(); !conflict.empty()) text += "; " + conflict;
  return text;
}

Check runtime_check(const RuntimeFacts& runtime) {
  if (!runtime.identity) {
    const auto says = [](std::string evidence, std::string fix, std::vector<std::string> commands) {
      return library_check("onnxruntime", "ONNX Runtime", CheckStatus::fail, std::move(evidence), std::move(fix),
                           std::move(commands));
    };
    const auto& script = runtime.fetch_script;
    if (runtime.error.code == base::ErrorCode::not_found) {
      constexpr auto kEvidence = "no library found: ONNX models cannot be run";
      if (script.empty())
        return says(kEvidence, "install the Python package, or give --ort-library FILE", {"pip install onnxruntime"});
      return says(kEvidence, "fetch it, install the Python package, or give --ort-library FILE",
                  {script, "pip install onnxruntime"});
    }
    if (!runtime.error.hint.empty()) return says(runtime.error.message, runtime.error.hint, {});
    if (script.empty()) return says(runtime.error.message, "give --ort-library FILE another one", {});
    return says(runtime.error.message, fmt::format("run {}, or give --ort-library FILE", script), {script});
  }
  const auto taken =
      std::find_if(runtime.found.begin(), runtime.found.end(), [](const auto& one) { return one.taken; });
  if (taken == runtime.found.end())
    return library_check("onnxruntime", "ONNX Runtime", CheckStatus::ok, runtime_text(*runtime.identity, {}));
  // Packages may well be for other hardware; a library that was named is to be used.
  const auto& plugins = taken->identity->plugins;
  const auto idle = std::find_if(plugins.begin(), plugins.end(),
                                 [](const auto& one) { return one.package.empty() && one.offers.empty(); });
  if (idle == plugins.end()) return library_check("onnxruntime", "ONNX Runtime", CheckStatus::ok, found_text(*taken));
  return library_check(
      "onnxruntime", "ONNX Runtime", CheckStatus::warn, found_text(*taken),
      idle->note && !idle->note->hint.empty() ? idle->note->hint : "name another library of a provider");
}

Check other_runtime_check(const FoundRuntimeFacts& one, std::size_t number) {
  return library_check(fmt::format("other_runtime.{}", number), "Other runtime",
                       one.identity ? CheckStatus::ok : CheckStatus::warn,
                       one.identity ? found_text(one) : fmt::format("{}; from {}", one.error.message, one.found.place),
                       one.identity             ? ""
                       : one.error.hint.empty() ? "remove it, or leave it: tune passes it over"
                                                : one.error.hint);
}

Check telemetry_check(const RuntimeFacts& runtime) {
  std::vector<std::string> titles;
  for (const auto& one : runtime.found)
    if (one.telemetry) titles.push_back(one.identity->version);
  std::string evidence = "no runtime here reports usage to its vendor";
  if (!titles.empty())
    evidence = runtime.telemetry_chosen
                   ? "ORT_DISABLE_TELEMETRY is set"
                   : fmt::format(
                         "usage is reported to Microsoft by ONNX Runtime {} unless ORT_DISABLE_TELEMETRY=1 is "
                         "set, as Ridgeline's workers do; for your programs: export ORT_DISABLE_TELEMETRY=1",
                         fmt::join(titles, ", "));
  return library_check("telemetry", "Telemetry", runtime.identity ? CheckStatus::ok : CheckStatus::skipped,
                       std::move(evidence));
}

Check provider_check(const Facts& facts) {
  constexpr auto kTitle = "CUDA provider";
  const auto& provider = schema::usual_gpu_provider();
  const auto& identity = facts.runtime.identity;
  if (!identity) return library_check("cuda_provider", kTitle, CheckStatus::skipped, "no ONNX Runtime to ask");
  const bool gpu = facts.driver.has_gpu();
  if (!identity->offers(provider)) {
    if (!gpu) return library_check("cuda_provider", kTitle, CheckStatus::skipped, "no GPU");
    auto remedy = gpu_build(facts.runtime);
    return library_check("cuda_provider", kTitle, CheckStatus::warn,
                         "this ONNX Runtime was built without it: the GPU stays unused", std::move(remedy.fix),
                         std::move(remedy.commands));
  }
  const auto* note = identity->why_not(provider);
  if (note == nullptr)
    return library_check("cuda_provider", kTitle, CheckStatus::ok,
                         fmt::format("{}; {}; all its libraries load", identity->version, facts.runtime.cuda_provider));
  if (!gpu) return library_check("cuda_provider", kTitle, CheckStatus::skipped, "no GPU");
  const auto& [message, looked_in, hint, missing] = *note;
  Remedy remedy{hint.empty() ? "see docs/troubleshooting.md" : hint, {}};
  if (!missing.empty()) {
    auto install = workload::pip_install_of(missing.front(), facts.runtime.cuda_major.value_or(kNewestCuda));
    if (missing.front() == provider.file)
      remedy = gpu_build(facts.runtime);
    else if (!install.empty())
      remedy.commands = {std::move(install)};
  }
  return library_check("cuda_provider", kTitle, CheckStatus::fail, message, std::move(remedy.fix),
                       std::move(remedy.commands));
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

std::string path_and_version(const LibraryFact& fact) {
  return fact.version.empty() ? fact.path : fmt::format("{} ({})", fact.path, fact.version);
}

std::string not_loaded(const LibraryFact& fact) { return path_and_version(fact) + ", not loaded by ONNX Runtime"; }

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
  std::string_view lost;
};
constexpr std::array kCudaParts{CudaPart{"cuda_runtime", "CUDA runtime", "libcudart.so", "the CUDA provider"},
                                CudaPart{"cublas", "cuBLAS", "libcublas.so", "the CUDA provider"},
                                CudaPart{"cudnn", "cuDNN", "libcudnn.so", "convolutions at full speed"}};

/// What keeps the provider from using a file. "": nothing does; a fix of "": install the right one.
struct Obstacle {
  std::string why;
  std::string fix;
};

Obstacle obstacle(const CudaPart& part, const LibraryFact* fact) {
  if (fact == nullptr) return {fmt::format("{} is not found", part.file), {}};
  if (!fact->load_error.empty()) {
    const auto problem = explain_load_error(fact->load_error);
    return {fmt::format("{}: {} {}", fact->path, problem.thing, problem.why), problem.fix};
  }
  const auto release = release_of(*fact);
  if (fact->release == 0 || release == 0 || release == fact->release) return {};
  return {fmt::format("{} is of release {}, the CUDA provider asks for {}", path_and_version(*fact), release,
                      fact->release),
          {}};
}

Check cuda_part_check(const CudaPart& part, const Facts& facts) {
  const auto says = [&](CheckStatus status, std::string evidence, std::string fix = {}, std::string command = {}) {
    return library_check(std::string(part.id), std::string(part.title), status, std::move(evidence), std::move(fix),
                         command.empty() ? std::vector<std::string>{} : std::vector<std::string>{std::move(command)});
  };
  const auto& identity = facts.runtime.identity;
  const auto found = identity ? loaded(*identity, part.file) : std::vector<std::string>{};
  if (!found.empty()) return says(CheckStatus::ok, fmt::format("{}", fmt::join(found, ", ")));
  const auto* fact = on_disk(facts, part.title);
  if (!facts.driver.has_gpu() || !identity || !identity->offers(schema::usual_gpu_provider())) {
    if (fact != nullptr && fact->load_error.empty()) return says(CheckStatus::ok, not_loaded(*fact));
    return says(CheckStatus::skipped, fact != nullptr           ? obstacle(part, fact).why
                                      : !facts.driver.has_gpu() ? "no GPU"
                                                                : "no CUDA provider that would need it");
  }
  const auto* note = identity->why_not(schema::usual_gpu_provider());
  const bool named = note != nullptr && std::any_of(note->missing.begin(), note->missing.end(),
                                                    [&](const auto& file) { return file.starts_with(part.file); });
  if (const auto [why, fix] = obstacle(part, fact); !why.empty())
    return says(
        named ? CheckStatus::fail : CheckStatus::warn,
        fmt::format("{}{}; lost: {}", why, named ? ", see CUDA provider" : "", part.lost),
        fix.empty() ? fmt::format("install it for CUDA {}", facts.runtime.cuda_major.value_or(kNewestCuda)) : fix,
        install_command(part.file, facts));
  if (!named) return says(CheckStatus::ok, not_loaded(*fact));
  return says(CheckStatus::warn, not_loaded(*fact) + ", see CUDA provider",
              "it loads by itself: put its folder on LD_LIBRARY_PATH", library_path_command(fact->path));
}

struct Optional {
  std::string_view name;
  std::string_view id;
  std::string_view lost;
  std::string_view soname = {};   ///< its package is that of this library for the CUDA release at hand, or
  std::string_view command = {};  ///< this brings it
};
constexpr std::array kOptional{
    Optional{"TensorRT", "tensorrt", "--provider tensorrt", "libnvinfer.so"},
    Optional{"CUPTI", "cupti", "measured kernel times and bytes (profiling)"},
    Optional{"LibTorch",
             "libtorch",
             "the native training step of bench (the Python step needs torch in Python only)",
             {},
             "pip install torch"}};

std::string command_for(const Optional& library, const Facts& facts) {
  if (!library.soname.empty()) return install_command(library.soname, facts);
  if (!library.command.empty()) return std::string(library.command);
  return facts.runtime.cuda_major == 12 ? "pip install nvidia-cuda-cupti-cu12" : "pip install nvidia-cuda-cupti";
}

/// Absent optional libraries are no warning: most machines do not want them.
Check optional_check(const Optional& library, const Facts& facts) {
  const auto* fact = on_disk(facts, library.name);
  const auto id = std::string(library.id);
  const auto title = std::string(library.name);
  if (fact == nullptr)
    return library_check(id, title, CheckStatus::skipped,
                         fmt::format("not found; lost: {}; to have it: {}", library.lost, command_for(library, facts)));
  if (!fact->load_error.empty()) {
    const auto problem = explain_load_error(fact->load_error);
    const bool needs_driver = !facts.driver.has_gpu() && problem.thing.find("libcuda.so") != std::string::npos;
    return library_check(id, title, needs_driver ? CheckStatus::skipped : CheckStatus::warn,
                         fmt::format("{}: {} {}; lost: {}", fact->path, problem.thing, problem.why, library.lost),
                         needs_driver ? std::string() : problem.fix);
  }
  return library_check(id, title, CheckStatus::ok,
                       fmt::format("{}{}", fact->version.empty() ? "" : fact->version + "; ", fact->path));
}

/// Absent, it is no warning either.
Check video_check(const VideoFacts& video) {
  if (video.error.empty())
    return library_check("video", "Video", CheckStatus::ok, fmt::format("{}; {}", video.version, video.path));
  return library_check("video", "Video", CheckStatus::skipped,
                       fmt::format("{}; lost: videos, cameras and addresses as sources of stream{}{}", video.error,
                                   video.fix.empty() ? "" : "; to have them: ", video.fix));
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
