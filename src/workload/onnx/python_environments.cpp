// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/python_environments.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/file.hpp"
#include "base/text.hpp"
#include "schema/messages.hpp"
#include "workload/onnx/ort_search.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;

}  // namespace

fs::path python_prefix_on_path(const std::string& path) {
  std::error_code error;
  for (const auto& folder : base::split(path, ':')) {
    const auto python = fs::path(folder) / "python3";
    if (folder.empty() || !fs::exists(python, error)) continue;
    // pyenv puts a script in front, and writes down which version that starts.
    const auto root = fs::path(folder).parent_path();
    if (const auto version = base::read_file(root / "version"); version && fs::exists(root / "versions", error))
      return root / "versions" / std::string(base::trim(base::split(*version, '\n').front()));
    // In an environment bin/python3 is a link to the base interpreter: the environment's own folder is what counts,
    // so only a link within one installation (python3 -> python3.11) may be followed, which keeps the folder.
    return root;
  }
  return {};
}

std::vector<long> version_numbers(const std::string& name) {
  std::vector<long> numbers;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] < '0' || name[at] > '9') continue;
    char* end = nullptr;
    numbers.push_back(std::strtol(name.c_str() + at, &end, 10));
    at = static_cast<std::size_t>(end - name.c_str());
  }
  return numbers;
}

std::vector<fs::path> folders_in(const fs::path& parent, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(parent, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error))
    if (at->path().filename().string().rfind(prefix, 0) == 0 && at->is_directory(error)) found.push_back(at->path());
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    return version_numbers(a.filename().string()) > version_numbers(b.filename().string());
  });
  return found;
}

std::vector<PythonEnvironment> python_environments(const OrtSearchEnvironment& environment) {
  std::vector<PythonEnvironment> found;
  using enum schema::messages::PlacePythonWhere;
  const auto add = [&found](schema::messages::PlacePythonWhere where, const fs::path& prefix) {
    if (!prefix.empty()) found.push_back({schema::messages::place_python({where, prefix.string()}), prefix});
  };
  add(venv, environment.virtual_env);
  add(conda, environment.conda_prefix);
  add(path, python_prefix_on_path(environment.path));
  if (!environment.home.empty()) add(home, fs::path(environment.home) / ".local");
  return found;
}

std::vector<fs::path> python_package_folders(const fs::path& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto* library_folder : {"lib", "lib64", "local/lib"})
    for (const auto& version : folders_in(prefix / library_folder, "python3"))
      for (const auto* packages : {"site-packages", "dist-packages"})
        if (auto folder = version / packages; fs::is_directory(folder, error)) found.push_back(std::move(folder));
  return found;
}

}  // namespace ridgeline::workload
