// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "doctor/checks/checks.hpp"

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

std::string packages_text(const PythonFacts& python) {
  std::vector<std::string> words;
  for (const auto& [name, version] : python.packages) {
    auto word = name + " " + version;
    if (name == "torch") word += python.torch_cuda.empty() ? " (CPU)" : fmt::format(" (CUDA {})", python.torch_cuda);
    words.push_back(std::move(word));
  }
  if (!python.ort_providers.empty()) words.push_back(fmt::format("would use {}", python.ort_providers.front()));
  return fmt::format("{}", fmt::join(words, ", "));
}

Check check_environment(const PythonFacts& python, std::size_t number, const Facts& facts) {
  Check check{fmt::format("python.{}", number), "Python", CheckGroup::python, ok, {}, {}, {}};
  check.evidence = fmt::format("{}{}: {}", python.label, python.is_python3 ? " (python3 on PATH)" : "",
                               python.packages.empty() ? "neither onnxruntime nor torch" : packages_text(python));
  if (python.packages.empty()) check.status = skipped;
  const bool is_other = !python.is_python3 && !python.executable.empty() &&
                        std::any_of(facts.pythons.begin(), facts.pythons.end(),
                                    [](const PythonFacts& other) { return other.is_python3; });
  if (is_other && has(python, "torch")) check.evidence += "; chosen with --python-exe " + python.executable;
  const auto says = [&](CheckStatus status, std::string why, std::string fix, std::vector<std::string> commands) {
    check.status = status;
    check.evidence += "; " + why;
    check.fix = std::move(fix);
    check.commands = std::move(commands);
  };
  const bool gpu = facts.driver.has_gpu();
  if (const auto builds = builds_of(python); builds.size() > 1) {
    const auto for_cpu =
        *std::find_if(builds.rbegin(), builds.rend(), [](const auto& name) { return name != kGpuBuild; });
    says(warn, "these builds of onnxruntime share one folder, and the one installed last won", "keep the one you want",
         {fmt::format("pip uninstall -y {}", fmt::join(builds, " ")),
          fmt::format("pip install {}", gpu ? kGpuBuild : for_cpu)});
  } else if (gpu && has(python, "onnxruntime")) {
    says(warn, "the CPU build: the GPU stays unused", "install the GPU build in its place",
         {"pip uninstall -y onnxruntime", "pip install onnxruntime-gpu"});
  } else if (gpu && has(python, "torch") && python.torch_cuda.empty()) {
    says(warn, "torch is a CPU build: the GPU stays unused", "install the CUDA build in its place",
         {"pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu128"});
  } else if (gpu && !python.torch_cuda.empty() && !facts.driver.cuda_version.empty() &&
             std::atoi(python.torch_cuda.c_str()) > std::atoi(facts.driver.cuda_version.c_str())) {
    says(fail,
         fmt::format("torch is built for CUDA {}, the driver serves {}", python.torch_cuda, facts.driver.cuda_version),
         "update the driver, or install torch for the driver's CUDA release",
         {"nvidia-smi   # shows what the driver serves"});
  }
  return check;
}

}  // namespace

std::vector<Check> check_python(const Facts& facts) {
  if (facts.pythons.empty())
    return {{"python.none",
             "Python",
             CheckGroup::python,
             skipped,
             "no environment in sight has onnxruntime or torch (VIRTUAL_ENV, CONDA_PREFIX, every python3 on PATH, "
             "~/.local)",
             {},
             {}}};
  std::vector<Check> checks;
  for (const auto& python : facts.pythons) checks.push_back(check_environment(python, checks.size() + 1, facts));
  return checks;
}

}  // namespace ridgeline::doctor
