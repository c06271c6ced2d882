// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "doctor/facts.hpp"
#include "execute/calls.hpp"
#include "gpu/nvml_api.hpp"

namespace ridgeline::doctor {

/// One reading of a GPU at work.
struct LoadReading {
  std::optional<double> sm_clock_mhz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::optional<std::uint64_t> clock_reasons;
  std::optional<int> pcie_generation;
  std::optional<int> pcie_width;
};

/// Reads that GPU through the management library; nullopt-only readings when it is not to be had.
[[nodiscard]] std::function<LoadReading()> nvml_load_reader(
    const std::string& uuid, const std::vector<std::string>& nvml = gpu::NvmlApi::default_candidates());

/// Keeps the GPU of `executor` busy with copies and matrix products in its worker for about a second, reading it every
/// few ms meanwhile. Never fails: see LoadFacts::error. `kind`: whose libraries the worker loads first ("onnx"), and
/// `library` which ("").
[[nodiscard]] LoadFacts watch_gpu_load(execute::Executor& executor, const std::string& kind, const std::string& library,
                                       const std::function<LoadReading()>& read);

/// The highest of each over the readings, every clock reason that was seen.
void add_reading(const LoadReading& reading, LoadFacts& facts);

}  // namespace ridgeline::doctor
