// SPDX-License-Identifier: Apache-2.0
#include "doctor/gather/library_facts.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <set>

#include "base/dynamic_library.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"
#include "doctor/load_error.hpp"
#include "execute/classify.hpp"
#include "execute/output_tail.hpp"
#include "stream/video_library.hpp"
#include "workload/onnx/cuda_libraries.hpp"
#include "workload/onnx/gpu_library_names.hpp"
#include "workload/onnx/loaded_gpu_libraries.hpp"
#include "workload/onnx/python_environments.hpp"

namespace ridgeline::doctor {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(OpenedLibrary, path, version, error, fix)

namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = std::chrono::seconds(60);  // LibTorch for CUDA has gigabytes to map from a slow disk
constexpr std::string_view kAnswer = "ridgeline-library ";

constexpr int kOfCuda = -1;
struct Wanted {
  std::string_view name;
  std::string_view file;            ///< up to ".so"
  std::array<const char*, 4> bare;  ///< for the loader, best first; nullptr ends it
  int release = 0;                  ///< to be preferred; 0: any, kOfCuda: that of the CUDA provider
};
constexpr std::array kWanted{
    Wanted{"TensorRT", "libnvinfer.so", {"libnvinfer.so.10", "libnvinfer.so.11", "libnvinfer.so", nullptr}},
    Wanted{"CUPTI", "libcupti.so", {"libcupti.so.13", "libcupti.so.12", "libcupti.so", nullptr}},
    Wanted{"LibTorch", "libtorch_cpu.so", {"libtorch_cpu.so", nullptr, nullptr, nullptr}},
    Wanted{"CUDA runtime", "libcudart.so", {"libcudart.so.13", "libcudart.so.12", "libcudart.so", nullptr}, kOfCuda},
    Wanted{"cuBLAS", "libcublas.so", {"libcublas.so.13", "libcublas.so.12", "libcublas.so", nullptr}, kOfCuda},
    Wanted{"cuDNN", "libcudnn.so", {"libcudnn.so.9", "libcudnn.so", nullptr, nullptr}, 9},
};

/// Files of that name in the folder, plain name and newest version first; links to a file already listed left out.
std::vector<std::string> files_in(const fs::path& folder, std::string_view name) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    auto file = at->path().filename().string();
    if (file == name || file.rfind(std::string(name) + ".", 0) == 0) names.push_back(std::move(file));
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return workload::version_numbers(a) > workload::version_numbers(b);
  });
  return names;
}

std::vector<fs::path> folders(const std::string& core, const workload::OrtSearchEnvironment& environment) {
  std::vector<fs::path> found;
  for (auto& place :
       workload::gpu_library_places(core.empty() ? fs::path("/nowhere/x") : fs::path(core), environment)) {
    if (core.empty() && place.label.is("schema.place_provider")) continue;
    found.insert(found.end(), place.folders.begin(), place.folders.end());
  }
  const auto cupti_of = [&](const fs::path& root) { found.push_back(root / "extras/CUPTI/lib64"); };
  if (!environment.cuda_home.empty()) cupti_of(environment.cuda_home);
  if (!environment.cuda_parent.empty())
    for (const auto& root : workload::folders_in(environment.cuda_parent, "cuda")) cupti_of(root);
  for (const auto& python : workload::python_environments(environment))
    for (const auto& packages : workload::python_package_folders(python.prefix))
      found.push_back(packages / "torch/lib");
  return found;
}

/// torch/lib lies beside torch/version.py; a LibTorch archive has build-version at its top.
std::string torch_version(const fs::path& library) {
  const auto top = library.parent_path().parent_path();
  if (const auto text = base::read_file(top / "build-version")) return std::string(base::trim(*text));
  for (const auto& line : base::split(base::read_file(top / "version.py").value_or(""), '\n'))
    if (line.rfind("__version__", 0) == 0) {
      const auto first = line.find_first_of("'\"");
      const auto last = line.find_last_of("'\"");
      if (first != std::string::npos && last > first) return line.substr(first + 1, last - first - 1);
    }
  return "";
}

/// 130001 is CUDA 13.0; until CUDA 12.8 a small number of its own.
std::string cupti_version(const base::DynamicLibrary& library) {
  const auto ask = reinterpret_cast<int (*)(std::uint32_t*)>(library.symbol("cuptiGetVersion"));
  std::uint32_t number = 0;
  if (ask == nullptr || ask(&number) != 0) return "";
  return number < 10000 ? fmt::format("API {}", number) : fmt::format("{}.{}", number / 10000, number / 100 % 100);
}

std::string version_in_name(const fs::path& library) {
  std::error_code error;
  const auto target = fs::canonical(library, error);
  const auto name = (error ? library : target).filename().string();
  const auto at = name.find(".so.");
  if (at == std::string::npos || name.find('.', at + 4) == std::string::npos) return "";
  return name.substr(at + 4);
}

/// `release`: the only one to look at; 0: any.
LibraryFact look_for(const Wanted& wanted, int release, const std::vector<fs::path>& places,
                     const LibraryOpener& open) {
  LibraryFact fact;
  fact.name = wanted.name;
  const auto fits = [release](std::string_view name) {
    return release == 0 || workload::major_version(name) == release;
  };
  const auto take = [&](const OpenedLibrary& opened, const std::string& file) {
    fact.path = opened.path.empty() ? file : opened.path;
    fact.load_error = opened.error;
    // LibTorch itself says none: what was found in it is that of a library which it brings along.
    fact.version = wanted.name == "LibTorch" ? torch_version(fact.path) : opened.version;
    if (fact.version.empty()) fact.version = version_in_name(fact.path);
  };
  for (const auto* bare : wanted.bare) {
    if (bare == nullptr) break;
    if (!fits(bare)) continue;
    const auto opened = open(bare);
    if (!opened.error.empty() && is_just_absent(opened.error, bare)) continue;
    take(opened, bare);  // also when it is broken: it is what every program gets
    return fact;
  }
  for (const auto& folder : places) {
    const auto files = files_in(folder, wanted.file);
    const auto newest = std::find_if(files.begin(), files.end(), fits);
    if (newest == files.end()) continue;
    const auto file = (folder / *newest).string();
    const auto opened = open(file);
    if (opened.error.empty() || fact.path.empty()) take(opened, file);
    if (opened.error.empty()) return fact;
  }
  return fact;
}

/// Toolkits carry no run path: what the file needs and what lies beside it is opened first, as a worker does it.
/// `tried`: by name, so that it ends.
base::Result<base::DynamicLibrary> open_with_neighbours(const std::string& file, std::set<std::string>& tried) {
  auto library = base::DynamicLibrary::open_file(file);
  const auto folder = fs::path(file).parent_path();
  tried.insert(fs::path(file).filename().string());
  while (!library && !folder.empty()) {
    const auto missing = explain_load_error(library.error().message).thing;
    if (missing.find('/') != std::string::npos || !tried.insert(missing).second) break;
    if (!open_with_neighbours((folder / missing).string(), tried)) break;
    library = base::DynamicLibrary::open_file(file);
  }
  return library;
}

OpenedLibrary opened_library(const std::string& file) {
  std::set<std::string> tried;
  const auto library = open_with_neighbours(file, tried);
  if (!library) return {"", "", library.error().message, ""};
  auto version = workload::loaded_library(library->path()).version;
  const bool is_cupti = library->path().filename().string().rfind("libcupti", 0) == 0;
  if (is_cupti && version.empty()) version = cupti_version(*library);  // others may bring it along
  return {library->path().string(), version, "", ""};
}

OpenedLibrary opened_video(const std::string& file) {
  const auto video = stream::VideoLibrary::open(file);
  if (!video) return {file, "", video.error().message, video.error().hint};
  return {file, video->runtime(), "", ""};
}

}  // namespace

std::vector<LibraryFact> read_library_facts(const RuntimeFacts& runtime,
                                            const workload::OrtSearchEnvironment& environment,
                                            const LibraryOpener& open) {
  const auto places = folders(runtime.identity ? runtime.identity->library_path : "", environment);
  std::vector<LibraryFact> found;
  for (const auto& wanted : kWanted) {
    const int release = wanted.release == kOfCuda ? runtime.cuda_major.value_or(0) : wanted.release;
    auto fact = look_for(wanted, release, places, open);
    if (fact.path.empty() && release != 0) fact = look_for(wanted, 0, places, open);
    fact.release = release;
    found.push_back(std::move(fact));
  }
  return found;
}

VideoFacts read_video_facts(const LibraryOpener& open) {
  const auto plugin = stream::VideoLibrary::find();
  if (!plugin) return {"", "", plugin.error().message, plugin.error().hint};
  auto opened = open(plugin->string());
  return {plugin->string(), std::move(opened.version), std::move(opened.error), std::move(opened.fix)};
}

std::string find_fetch_script(const fs::path& program) {
  std::error_code error;
  for (auto folder = program.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (const auto script = folder / "scripts/fetch_onnxruntime.sh"; fs::is_regular_file(script, error))
      return script.string();
  return {};
}

LibraryOpener opener_in_child(std::vector<std::string> command) {
  return [command = std::move(command)](const std::string& file) -> OpenedLibrary {
    base::SubprocessOptions options;
    options.argv = command;
    options.argv.push_back(file);
    auto child = base::Subprocess::spawn(options);
    if (!child) return {"", "", base::error_line(child.error())};
    const auto status = child->wait_for(kPatience);
    execute::OutputTail tail;
    (void)tail.drain(child->output_fd());
    if (!status) return {"", "", fmt::format("{}: opening it took more than {} s", file, kPatience.count())};
    if (status->signal)
      return {file, "",
              fmt::format("{}: opening it ended the process with {}", file, execute::signal_name(*status->signal))};
    const auto line = tail.last_line();
    if (line.rfind(kAnswer, 0) != 0)
      return {file, "",
              fmt::format("{}: opening it ended the process with exit code {}", file, status->exit_code.value_or(0))};
    const auto json = base::parse_json(line.substr(kAnswer.size()), "library answer");
    const auto answer = json ? base::json_as<OpenedLibrary>(*json, "library answer")
                             : base::Result<OpenedLibrary>(tl::unexpected(json.error()));
    return answer ? *answer : OpenedLibrary{"", "", answer.error().message};
  };
}

int open_library_main(const std::string& file) {
  const auto plugin = stream::VideoLibrary::find();
  const auto answer = plugin && plugin->string() == file ? opened_video(file) : opened_library(file);
  // Exit handlers of vendors' libraries are no part of the question.
  std::printf("%s%s\n", std::string(kAnswer).c_str(), base::dump_json(base::Json(answer)).c_str());
  std::fflush(stdout);
  ::_exit(0);
}

}  // namespace ridgeline::doctor
