// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "doctor/facts.hpp"
#include "gpu/nvml_api.hpp"

namespace ridgeline::doctor {

/// Every GPU as the management library shows it at rest; empty without one. Never fails. `root` holds proc and sys.
[[nodiscard]] std::vector<GpuFacts> read_gpu_facts(
    const std::filesystem::path& root = "/", const std::vector<std::string>& nvml = gpu::NvmlApi::default_candidates());

}  // namespace ridgeline::doctor
