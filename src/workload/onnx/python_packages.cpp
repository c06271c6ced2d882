// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/python_packages.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "base/file.hpp"
#include "workload/onnx/python_environments.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;

/// "onnxruntime_gpu-1.20.1.dist-info", or, of distributions like Debian, "torch-1.13.0-py3.11.egg-info".
std::optional<PythonPackage> package_of(const fs::path& info) {
  if (info.extension() != ".dist-info" && info.extension() != ".egg-info") return std::nullopt;
  const auto stem = info.stem().string();
  const auto dash = stem.find('-');
  if (dash == std::string::npos) return std::nullopt;
  PythonPackage package{stem.substr(0, dash), stem.substr(dash + 1), info / "RECORD"};
  if (const auto python = package.version.find("-py3"); python != std::string::npos) package.version.resize(python);
  for (auto& c : package.name) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return package;
}

/// Providers are named like this, and so is the part that they share; what they bring along is not.
fs::path provider_library(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    auto name = at->path().filename().string();
    const bool provider = name.rfind("libonnxruntime_providers_", 0) == 0 || name.rfind("libonnxruntime_ep_", 0) == 0;
    if (provider && name.ends_with(".so") && name != "libonnxruntime_providers_shared.so")
      names.push_back(std::move(name));
  }
  if (names.empty()) return {};
  return folder / *std::min_element(names.begin(), names.end());
}

}  // namespace

bool PythonPackage::owns(const std::string& file) const {
  const auto text = base::read_file(record).value_or("");
  const auto line = file + ",";
  return text.rfind(line, 0) == 0 || text.find("\n" + line) != std::string::npos;
}

std::vector<PythonPackage> python_packages(const fs::path& folder) {
  std::vector<PythonPackage> packages;
  std::error_code error;
  for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error))
    if (auto package = package_of(at->path())) packages.push_back(std::move(*package));
  std::sort(packages.begin(), packages.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return packages;
}

std::vector<std::string> onnxruntime_builds(const std::vector<PythonPackage>& packages) {
  std::vector<std::string> builds;
  for (const auto& package : packages)
    if (package.name.rfind("onnxruntime", 0) == 0 && package.owns("onnxruntime/__init__.py"))
      builds.push_back(package.title());
  return builds;
}

std::vector<schema::PluginLibrary> plugin_libraries(const fs::path& folder,
                                                    const std::vector<PythonPackage>& packages) {
  auto modules = folders_in(folder, "onnxruntime_ep_");
  modules.push_back(folder / "onnxruntime_qnn");
  std::vector<schema::PluginLibrary> plugins;
  for (const auto& module : modules) {
    std::error_code error;
    auto library = provider_library(module);
    // The Linux build of that package puts its library beside the runtime's.
    if (library.empty() && module == modules.back() && fs::exists(module, error))
      library = folder / "onnxruntime/capi/libonnxruntime_providers_qnn.so";
    if (library.empty() || !fs::exists(library, error)) continue;
    auto& plugin = plugins.emplace_back();
    plugin.library_path = library.string();
    const auto init = module.filename().string() + "/__init__.py";
    for (const auto& package : packages)
      if (package.name.rfind("onnxruntime", 0) == 0 && package.owns(init)) plugin.package = package.title();
  }
  return plugins;
}

}  // namespace ridgeline::workload
