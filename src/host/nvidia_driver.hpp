// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/system_files.hpp"

// What the NVIDIA kernel driver says without any library being loaded.
namespace ridgeline::host {

/// "" without the module.
[[nodiscard]] std::string nvidia_module_version(const SystemFiles& files);

/// Whether performance counters are for administrators only (NVreg_RestrictProfilingToAdminUsers).
[[nodiscard]] std::optional<bool> nvidia_counters_admin_only(const SystemFiles& files);

}  // namespace ridgeline::host
