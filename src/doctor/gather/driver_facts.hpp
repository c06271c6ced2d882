// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doctor/facts.hpp"
#include "gpu/nvml_api.hpp"

namespace ridgeline::doctor {

/// What the kernel, the device files and the management library say. Never fails. `root` holds proc, sys and dev.
[[nodiscard]] DriverFacts read_driver_facts(const std::optional<std::string>& visible_devices,
                                            const std::filesystem::path& root = "/",
                                            const std::vector<std::string>& nvml = gpu::NvmlApi::default_candidates());

}  // namespace ridgeline::doctor
