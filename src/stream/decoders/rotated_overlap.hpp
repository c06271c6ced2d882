// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stream/point.hpp"

namespace ridgeline::stream {

/// Intersection over union of two convex quadrangles whose corners go around once, 0 to 1; 0 where both are empty. The
/// intersection by clipping one at each side of the other (Sutherland and Hodgman 1974).
[[nodiscard]] double overlap_ratio(const Quad& a, const Quad& b);

}  // namespace ridgeline::stream
