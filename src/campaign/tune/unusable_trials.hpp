// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/run_context.hpp"

namespace ridgeline::campaign {

/// Why no trial of the run can be ranked: the most frequent cause with its value, and a way out.
[[nodiscard]] schema::Message why_none_is_usable(const TuneResult& result);

}  // namespace ridgeline::campaign
