// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "campaign/tune/run_context.hpp"

namespace ridgeline::campaign {

/// Why no trial of the run can be ranked, in one line: the most frequent cause with its value, and a way out.
[[nodiscard]] std::string why_none_is_usable(const TuneResult& result);

}  // namespace ridgeline::campaign
