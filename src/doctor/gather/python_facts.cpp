// SPDX-License-Identifier: Apache-2.0
#include "doctor/gather/python_facts.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "schema/execution_provider.hpp"
#include "workload/onnx/python_environments.hpp"
#include "workload/onnx/python_packages.hpp"

namespace ridgeline::doctor {
namespace {

namespace fs = std::filesystem;

/// onnxruntime is published under a name for each kind of accelerator, and its add-ons begin likewise.
bool is_wanted(const std::string& package) { return package == "torch" || package.rfind("onnxruntime", 0) == 0; }

/// python_environments knows the first python3 on PATH; a machine often has several.
std::vector<workload::PythonEnvironment> all_environments(const workload::OrtSearchEnvironment& environment) {
  auto found = workload::python_environments(environment);
  std::error_code error;
  for (const auto& folder : base::split(environment.path, ':'))
    if (!folder.empty() && fs::exists(fs::path(folder) / "python3", error))
      found.push_back({"Python under " + fs::path(folder).parent_path().string(), fs::path(folder).parent_path()});
  return found;
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
}

}  // namespace

std::vector<PythonFacts> read_python_facts(const workload::OrtSearchEnvironment& environment) {
  std::vector<PythonFacts> found;
  std::set<fs::path> seen;
  std::error_code error;
  for (const auto& python : all_environments(environment)) {
    auto real = fs::canonical(python.prefix, error);
    if (!seen.insert(error ? python.prefix : real).second) continue;
    PythonFacts facts;
    facts.label = python.label;
    for (const auto& folder : workload::python_package_folders(python.prefix)) {
      const auto packages = fs::canonical(folder, error);
      // "lib64" is a link to "lib", and /usr and / share their folders.
      if (seen.insert(error ? folder : packages).second) read_packages(folder, facts);
    }
    if (!facts.packages.empty()) found.push_back(std::move(facts));
  }
  return found;
}

}  // namespace ridgeline::doctor
