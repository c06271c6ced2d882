// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "schema/environment.hpp"

namespace ridgeline::host {

/// Reads the machine from /proc, /sys and the scheduler. Never fails: what cannot be read stays empty. `root` is
/// replaced in tests by a fixture tree. GPUs are listed as the NVIDIA kernel driver names them, memory_bytes 0.
[[nodiscard]] schema::Environment probe_environment(const std::filesystem::path& root = "/");

}  // namespace ridgeline::host
