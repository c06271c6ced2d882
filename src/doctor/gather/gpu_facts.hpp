// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "doctor/facts.hpp"
#include "gpu/nvml_api.hpp"

namespace ridgeline::doctor {

/// Every GPU as the management library shows it at rest; empty without one. Never fails. `root` holds proc and sys.
[[nodiscard]] std::vector<GpuFacts> read_gpu_facts(
    const std::filesystem::path& root = "/", const std::vector<std::string>& nvml = gpu::NvmlApi::default_candidates());

/// To be called later: sets the error of those GPUs that have stopped answering meanwhile. The handles are taken now,
/// because a library that is started after a card was lost may not list it any more.
[[nodiscard]] std::function<void(std::vector<GpuFacts>&)> loss_check(
    const std::vector<GpuFacts>& gpus, const std::vector<std::string>& nvml = gpu::NvmlApi::default_candidates());

}  // namespace ridgeline::doctor
