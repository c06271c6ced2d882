// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/measurement.hpp"

namespace ridgeline::measure {

/// Mean log ratio of an ABBA round, the four blocks from `first` on: B over A, by block medians.
[[nodiscard]] double abba_log_ratio(const schema::PairedBlock* first);

}  // namespace ridgeline::measure
