// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/local_arm.hpp"
#include "measure/measurement_session.hpp"

namespace ridgeline::measure {

/// measure_paired over pairs of sessions, the arm that is made and warmed up first changing from round to round. Two
/// sessions of one configuration differ by what memory they got, for as long as they live: by 1 to 2 % of a small model
/// on a CPU, and ResNet-50 on an H200 ran 2 % slower in the session made second. ABBA rounds of one pair of sessions
/// cannot see that; counterbalanced rounds cancel what the order does, and many of them show in the interval what
/// chance does; of two, each arm's second session is made while only the place of the other arm's first one is free.
/// Rounds, always a whole number of turns, go on until plan.rounds, abba_rounds and min_time_s are reached and the 95 %
/// half width over ABBA rounds and over rounds, without what the order does, is plan.target_half_width, or until
/// max_rounds, max_abba_rounds or max_time_s (of the blocks) is. Fewer than four rounds say nothing of sessions'
/// scatter: they are enough only where the arms are further apart than sessions differ, for whose ratio 4 % will do.
/// Where rounds are not shared out beforehand, one lasts as long as making its sessions took, up to a sixth of
/// max_time_s; the last turn has what is left, and is not begun for less than half of that. With control.ends_within_s
/// no round but the first is begun that is not likely to end in time; few_rounds is the flag of a comparison that was
/// so ended before it was sure enough. Errors: as measure_paired, and those of the makers.
[[nodiscard]] base::Result<schema::PairedMeasurement> measure_paired_rounds(const MakeArm& make_a,
                                                                            const MakeArm& make_b,
                                                                            const schema::PairedPlan& plan,
                                                                            MeasureControl& control);
/// With both arms in this process.
[[nodiscard]] base::Result<schema::PairedMeasurement> measure_paired_rounds(const MakeWorkload& make_a,
                                                                            const MakeWorkload& make_b,
                                                                            const schema::PairedPlan& plan,
                                                                            MeasureControl& control);

}  // namespace ridgeline::measure
