// SPDX-License-Identifier: Apache-2.0
#include "doctor/gather/python_facts.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "schema/execution_provider.hpp"
#include "schema/messages.hpp"
#include "workload/onnx/python_environments.hpp"
#include "workload/onnx/python_packages.hpp"

namespace ridgeline::doctor {
namespace {

namespace fs = std::filesystem;

/// onnxruntime is published under a name for each kind of accelerator, and its add-ons begin likewise.
bool is_wanted(const std::string& package) { return package == "torch" || package.rfind("onnxruntime", 0) == 0; }

struct Installation {
  workload::PythonEnvironment environment;
  fs::path executable;  ///< "" for a folder of packages
};

/// python_environments knows the first python3 on PATH; a machine often has several.
std::vector<Installation> all_installations(const workload::OrtSearchEnvironment& environment) {
  std::vector<Installation> found;
  std::error_code error;
  for (auto& python : workload::python_environments(environment)) {
    auto executable = python.prefix / "bin/python3";
    if (!fs::exists(executable, error)) executable.clear();
    found.push_back({std::move(python), std::move(executable)});
  }
  for (const auto& folder : base::split(environment.path, ':'))
    if (const auto executable = fs::path(folder) / "python3"; !folder.empty() && fs::exists(executable, error)) {
      const auto prefix = fs::path(folder).parent_path();
      found.push_back(
          {{schema::messages::place_python({schema::messages::PlacePythonWhere::path, prefix.string()}), prefix},
           executable});
    }
  return found;
}

/// Packages of the base installation that a virtual environment was made to see.
std::vector<fs::path> package_folders(const fs::path& prefix) {
  auto folders = workload::python_package_folders(prefix);
  const auto settings = base::read_file(prefix / "pyvenv.cfg").value_or("");
  std::map<std::string, std::string> values;
  for (const auto& line : base::split(settings, '\n'))
    if (const auto equals = line.find('='); equals != std::string::npos)
      values[std::string(base::trim(line.substr(0, equals)))] = base::trim(line.substr(equals + 1));
  if (values["include-system-site-packages"] == "true")
    for (auto& folder : workload::python_package_folders(fs::path(values["home"]).parent_path()))
      folders.push_back(std::move(folder));
  return folders;
}

/// torch/version.py has: cuda: Optional[str] = '12.8'
std::string torch_cuda(const fs::path& packages) {
  const auto text = base::read_file(packages / "torch/version.py").value_or("");
  for (const auto& line : base::split(text, '\n')) {
    if (line.rfind("cuda", 0) != 0) continue;
    const auto first = line.find_first_of("'\"");
    const auto last = line.find_last_of("'\"");
    if (first != std::string::npos && last > first) return line.substr(first + 1, last - first - 1);
  }
  return "";
}

/// With pip's packages of CUDA 13 and 12, in torch's own folder, or with conda next to its Python's libraries.
std::string cuda_runtime(const fs::path& packages, const std::string& cuda_major) {
  const auto library = "libcudart.so." + cuda_major;
  std::error_code error;
  for (const auto& folder : {packages / "nvidia" / ("cu" + cuda_major) / "lib", packages / "nvidia/cuda_runtime/lib",
                             packages / "torch/lib", packages.parent_path().parent_path()})
    if (fs::exists(folder / library, error)) return (folder / library).string();
  return "";
}

void read_packages(const fs::path& folder, PythonFacts& facts) {
  std::error_code error;
  for (const auto& package : workload::python_packages(folder))
    if (is_wanted(package.name)) facts.packages.emplace(package.name, package.version);
  const auto capi = folder / "onnxruntime/capi";
  const bool ort = std::any_of(facts.packages.begin(), facts.packages.end(),
                               [](const auto& package) { return package.first != "torch"; });
  if (ort && facts.ort_providers.empty() && fs::exists(capi, error)) {
    // What onnxruntime tries before the CPU, in its order; it takes TensorRT only where that is asked for.
    std::vector<const schema::ExecutionProvider*> tried{&schema::usual_gpu_provider()};
    for (const auto& row : schema::execution_providers())
      if (!row.file.empty() && !row.on_gpu()) tried.push_back(&row);
    for (const auto& other : schema::other_providers()) tried.push_back(&other);
    for (const auto* provider : tried)
      if (fs::exists(capi / provider->file, error)) facts.ort_providers.push_back(provider->library_name);
    facts.ort_providers.push_back(schema::cpu_provider().library_name);
  }
  if (facts.packages.count("torch") != 0 && facts.torch_cuda.empty()) facts.torch_cuda = torch_cuda(folder);
  if (!facts.torch_cuda.empty() && facts.cuda_runtime.empty())
    facts.cuda_runtime = cuda_runtime(folder, facts.torch_cuda.substr(0, facts.torch_cuda.find('.')));
}

}  // namespace

std::vector<PythonFacts> read_python_facts(const workload::OrtSearchEnvironment& environment) {
  std::vector<PythonFacts> found;
  std::set<fs::path> prefixes;
  std::set<fs::path> executables;
  std::error_code error;
  const auto real = [&](const fs::path& path) {
    auto canonical = fs::canonical(path, error);
    return error ? path : canonical;
  };
  const auto of_python3 = workload::python_prefix_on_path(environment.path);
  for (const auto& [python, executable] : all_installations(environment)) {
    if (!prefixes.insert(real(python.prefix)).second) continue;
    // /bin/python3 is /usr/bin/python3; in a virtual environment the same link means another set of packages.
    const bool is_virtual = fs::exists(python.prefix / "pyvenv.cfg", error);
    if (!executable.empty() && !is_virtual && !executables.insert(real(executable)).second) continue;
    PythonFacts facts;
    facts.label = python.label;
    facts.executable = executable.string();
    facts.is_python3 = !of_python3.empty() && real(of_python3) == real(python.prefix);
    std::set<fs::path> folders;  // "lib64" is a link to "lib"
    for (const auto& folder : package_folders(python.prefix))
      if (folders.insert(real(folder)).second) read_packages(folder, facts);
    if (!facts.packages.empty() || facts.is_python3) found.push_back(std::move(facts));
  }
  const bool any = std::any_of(found.begin(), found.end(), [](const auto& facts) { return !facts.packages.empty(); });
  return any ? found : std::vector<PythonFacts>{};
}

}  // namespace ridgeline::doctor
