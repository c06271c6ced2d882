// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "schema/environment.hpp"

namespace ridgeline::campaign {

/// Reads the machine from /proc, /sys and the scheduler. `root` is replaced in tests by a fixture tree.
[[nodiscard]] schema::Environment probe_environment(const std::filesystem::path& root = "/");

}  // namespace ridgeline::campaign
