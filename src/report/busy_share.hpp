// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "schema/message_renderer.hpp"
#include "schema/training_run.hpp"

namespace ridgeline::report {

/// Title of the column of the GPU's busy share, in percent: gpu_busy, else NVML's gpu_util.
inline constexpr std::string_view kBusyColumn = "GPU%";

/// "by GPM in 34 trials; NVML's utilisation is +12.3 points beside it in the mean", or that it is NVML's and why;
/// empty where neither was asked.
[[nodiscard]] schema::Message busy_of(const schema::BenchRun& run);

/// Whether NVML's number stands beside a better one in any trial, and so deserves a column of its own.
[[nodiscard]] bool shows_nvml_beside(const schema::BenchRun& run);

/// That column's cell.
[[nodiscard]] std::string nvml_cell(const schema::BenchTrial& trial);

}  // namespace ridgeline::report
