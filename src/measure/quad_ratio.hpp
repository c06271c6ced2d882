// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/measurement.hpp"

namespace ridgeline::measure {

/// Mean log ratio of a quad, the four blocks from `first` on: B over A, by block medians.
[[nodiscard]] double quad_log_ratio(const schema::PairedBlock* first);

/// Half width of the 95 % interval of the mean (Student's t); infinite below two values.
[[nodiscard]] double half_width(const std::vector<double>& values);

}  // namespace ridgeline::measure
