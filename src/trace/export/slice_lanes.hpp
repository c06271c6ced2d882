// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "trace/export/slice.hpp"

namespace ridgeline::trace {

/// Slices of which any two lie one within the other or apart, in the order of SliceTimes::before.
using SliceLane = std::vector<Slice>;

/// Each slice goes to the first lane into which it fits. Of slices that overlap without one enclosing the other no two
/// are on one lane; nor are more than 500 within each other, as viewers drop what lies deeper than 512. Linear in the
/// slices times the lanes.
[[nodiscard]] std::vector<SliceLane> split_into_lanes(const SliceTimes& times, std::vector<Slice> slices);

/// Adds to a lane those of `slices` that fit between what it has, which stays. Returns the others.
[[nodiscard]] std::vector<Slice> add_what_nests(const SliceTimes& times, std::vector<Slice> slices, SliceLane& lane);

/// Each slice goes to the first row that is free when it begins: of those on one row no two overlap, and what encloses
/// stands on a row before what it encloses. Left out is what would need more than `most` rows. Linear in the slices
/// times the rows.
[[nodiscard]] std::vector<SliceLane> split_into_rows(const SliceTimes& times, std::vector<Slice> slices,
                                                     std::size_t most);

}  // namespace ridgeline::trace
