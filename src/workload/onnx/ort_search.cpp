// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_search.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/file.hpp"
#include "workload/onnx/python_environments.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;

void append(std::vector<std::string>& to, std::vector<std::string> more) {
  for (auto& file : more)
    if (std::find(to.begin(), to.end(), file) == to.end()) to.push_back(std::move(file));
}

// The wheel keeps the library in its capi folder.
std::vector<std::string> ort_files_of_python(const fs::path& prefix) {
  std::vector<std::string> files;
  for (const auto& packages : python_package_folders(prefix))
    append(files, ort_files_in(packages / "onnxruntime/capi"));
  return files;
}

std::vector<std::string> files_of_named(const std::string& named) {
  std::error_code error;
  const fs::path path(named);
  // A name without a slash would be looked for by the loader, anywhere but here.
  if (named.find('/') == std::string::npos && fs::is_regular_file(path, error))
    return {fs::absolute(path, error).string()};
  if (!fs::is_directory(path, error)) return {named};
  auto files = ort_files_in(path);
  append(files, ort_files_in(path / "lib"));
  append(files, ort_files_in(path / "onnxruntime/capi"));
  return files;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

OrtSearchEnvironment OrtSearchEnvironment::of_this_process() {
  return {.ort_library = variable("RIDGELINE_ORT_LIBRARY"),
          .ort_root = variable("ONNXRUNTIME_ROOT"),
          .virtual_env = variable("VIRTUAL_ENV"),
          .conda_prefix = variable("CONDA_PREFIX"),
          .path = variable("PATH"),
          .home = variable("HOME"),
          .ld_library_path = variable("LD_LIBRARY_PATH"),
          .cuda_home = variable("CUDA_HOME").empty() ? variable("CUDA_PATH") : variable("CUDA_HOME"),
          .cuda_parent = "/usr/local",
          .executable = base::executable_path(),
          .cache = base::cache_folder()};
}

std::vector<std::string> ort_files_in(const fs::path& folder) {
  constexpr std::string_view kName = "libonnxruntime.so";
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    auto name = at->path().filename().string();
    if (name == kName || name.rfind(std::string(kName) + ".", 0) == 0) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    if ((a == kName) != (b == kName)) return a == kName;
    return version_numbers(a) > version_numbers(b);
  });
  for (auto& name : names) name = (folder / name).string();
  return names;
}

std::vector<OrtPlace> ort_places(const std::string& ort_library_flag, const OrtSearchEnvironment& environment) {
  if (!ort_library_flag.empty()) return {{"--ort-library " + ort_library_flag, files_of_named(ort_library_flag), true}};
  if (!environment.ort_library.empty())
    return {{"RIDGELINE_ORT_LIBRARY=" + environment.ort_library, files_of_named(environment.ort_library), true}};

  std::vector<OrtPlace> places{{"RIDGELINE_ORT_LIBRARY (not set)", {}, false}};
  const auto folder = environment.executable.parent_path();
  OrtPlace beside{fmt::format("beside the program ({0}, {0}/../lib)", folder.string()), ort_files_in(folder), false};
  append(beside.files, ort_files_in(folder.parent_path() / "lib"));
  places.push_back(std::move(beside));

  if (environment.ort_root.empty()) {
    places.push_back({"ONNXRUNTIME_ROOT (not set)", {}, false});
  } else {
    places.push_back({"ONNXRUNTIME_ROOT=" + environment.ort_root, files_of_named(environment.ort_root), false});
  }

  for (auto& python : python_environments(environment))
    places.push_back({std::move(python.label), ort_files_of_python(python.prefix), false});

  OrtPlace cache{fmt::format("the cache ({})", (environment.cache / "onnxruntime").string()), {}, false};
  for (const auto& version : folders_in(environment.cache / "onnxruntime", ""))
    append(cache.files, ort_files_in(version / "lib"));
  places.push_back(std::move(cache));
  places.push_back({"the system's library folders", {"libonnxruntime.so.1", "libonnxruntime.so"}, false});
  return places;
}

}  // namespace ridgeline::workload
