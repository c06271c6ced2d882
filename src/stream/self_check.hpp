// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "schema/message.hpp"

namespace ridgeline::stream {

/// What a pipeline's own figures say about each other. One that fails means that the figures of the run are wrong.
struct SelfCheck {
  double value = 0;  ///< how far apart the two sides are, as a share; 0: equal
  double limit = 0;
  bool passed = false;
  schema::Message message;  ///< both sides, with units
};

/// offered = delivered + dropped + in flight, exactly.
[[nodiscard]] SelfCheck check_counts(std::uint64_t offered, std::uint64_t delivered, std::uint64_t dropped,
                                     std::uint64_t in_flight);

/// Little's law, N = X * L: the mean number of frames in the pipeline, against the rate at which they leave times the
/// mean time that each spends there. Frames still inside at the end make the two differ a little, so the limit is 2 %.
/// Passes without frames.
[[nodiscard]] SelfCheck check_little(double mean_in_pipeline, double rate_per_s, double mean_time_ns);

/// The times of all stages add up to the time from end to end, within 1 %. Passes without frames.
[[nodiscard]] SelfCheck check_stages(double stages_ns, double end_to_end_ns);

}  // namespace ridgeline::stream
