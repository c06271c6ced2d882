// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "doctor/checks/checks.hpp"
#include "doctor/messages.hpp"

namespace ridgeline::doctor {
namespace {

using enum CheckStatus;

const std::string kGpuBuild = "onnxruntime-gpu";

/// Distributions of onnxruntime that unpack into the same folder; add-ons have one of their own.
std::vector<std::string> builds_of(const PythonFacts& python) {
  constexpr std::array kAddOns{"onnxruntime-ep-", "onnxruntime-extensions", "onnxruntime-genai", "onnxruntime-qnn",
                               "onnxruntime-tools"};
  std::vector<std::string> builds;
  for (const auto& [name, version] : python.packages)
    if ((name == "onnxruntime" || name.rfind("onnxruntime-", 0) == 0) &&
        std::none_of(kAddOns.begin(), kAddOns.end(), [&](const char* start) { return name.rfind(start, 0) == 0; }))
      builds.push_back(name);
  return builds;
}

bool has(const PythonFacts& python, const std::string& package) { return python.packages.count(package) != 0; }

/// "onnxruntime 1.24.1", "torch 2.11.0 (CUDA 13.0)"
std::vector<std::string> package_names(const PythonFacts& python) {
  std::vector<std::string> names;
  for (const auto& [name, version] : python.packages) {
    auto text = name + " " + version;
    if (name == "torch") text += python.torch_cuda.empty() ? " (CPU)" : fmt::format(" (CUDA {})", python.torch_cuda);
    names.push_back(std::move(text));
  }
  return names;
}

/// What is wrong with an environment, and what helps.
struct PythonFault {
  CheckStatus status = ok;
  schema::Message problem;
  schema::Message fix;
  std::vector<std::string> commands;
};

PythonFault fault_of(const PythonFacts& python, const Facts& facts) {
  const bool gpu = facts.driver.has_gpu();
  if (const auto builds = builds_of(python); builds.size() > 1) {
    const auto for_cpu =
        *std::find_if(builds.rbegin(), builds.rend(), [](const auto& name) { return name != kGpuBuild; });
    return {warn,
            messages::builds_mixed(),
            messages::fix_builds_mixed(),
            {fmt::format("pip uninstall -y {}", fmt::join(builds, " ")),
             fmt::format("pip install {}", gpu ? kGpuBuild : for_cpu)}};
  }
  if (gpu && has(python, "onnxruntime"))
    return {warn,
            messages::cpu_build(),
            messages::fix_cpu_build(),
            {"pip uninstall -y onnxruntime", "pip install onnxruntime-gpu"}};
  if (gpu && has(python, "torch") && python.torch_cuda.empty())
    return {warn,
            messages::torch_cpu_build(),
            messages::fix_torch_cpu_build(),
            {"pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu128"}};
  if (gpu && !python.torch_cuda.empty() && !facts.driver.cuda_version.empty() &&
      std::atoi(python.torch_cuda.c_str()) > std::atoi(facts.driver.cuda_version.c_str()))
    return {fail,
            messages::torch_too_new({.torch = python.torch_cuda, .driver = facts.driver.cuda_version}),
            messages::fix_torch_too_new(),
            {"nvidia-smi   # shows what the driver serves"}};
  return {};
}

Check check_environment(const PythonFacts& python, std::size_t number, const Facts& facts) {
  const auto fault = fault_of(python, facts);
  messages::Python seen{.label = python.label,
                        .is_python3 = python.is_python3,
                        .packages = package_names(python),
                        .problem = fault.problem};
  if (!python.ort_providers.empty()) seen.provider = python.ort_providers.front();
  const bool is_other = !python.is_python3 && !python.executable.empty() &&
                        std::any_of(facts.pythons.begin(), facts.pythons.end(),
                                    [](const PythonFacts& other) { return other.is_python3; });
  if (is_other && has(python, "torch")) seen.executable = python.executable;
  return make_check(CheckGroup::python, fmt::format("{}", number), messages::product("Python"),
                    fault.status == ok && python.packages.empty() ? skipped : fault.status, messages::python(seen),
                    fault.fix, fault.commands);
}

}  // namespace

std::vector<Check> check_python(const Facts& facts) {
  if (facts.pythons.empty())
    return {
        make_check(CheckGroup::python, "none", messages::product("Python"), skipped, messages::no_python(), {}, {})};
  std::vector<Check> checks;
  for (const auto& python : facts.pythons) checks.push_back(check_environment(python, checks.size() + 1, facts));
  return checks;
}

}  // namespace ridgeline::doctor
