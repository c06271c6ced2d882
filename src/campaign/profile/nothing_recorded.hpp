// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "campaign/profile/record_options.hpp"
#include "trace/record/recording.hpp"

namespace ridgeline::campaign {

/// Why a recording without events has none, and what to do. `other_injection`: RecordEnvironment. `has_hooks`: Python
/// programs record their modules.
[[nodiscard]] base::Fault nothing_recorded(const trace::Recording& recording, const RecordOptions& options,
                                           const std::string& other_injection, bool has_hooks);

}  // namespace ridgeline::campaign
