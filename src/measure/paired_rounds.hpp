// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "measure/measurement_session.hpp"

namespace ridgeline::measure {

/// Makes a prepared workload of one arm.
using MakeArm = std::function<base::Result<std::unique_ptr<workload::Workload>>()>;

/// measure_paired over plan.rounds pairs of sessions, the arm that is made first changing from round to round. Two
/// sessions of one configuration in one process differ by what memory they got: ResNet-50 on an H200 ran 2 % slower in
/// the session made second, within 0.1 % over minutes. Quads of one pair of sessions cannot see that; two rounds with
/// the order turned cancel it and widen the interval by it. Quads, their limit and the time are shared out.
/// Errors: as measure_paired, and those of the makers.
[[nodiscard]] base::Result<schema::PairedMeasurement> measure_paired_rounds(const MakeArm& make_a, const MakeArm& make_b,
                                                                            const schema::PairedPlan& plan,
                                                                            MeasureControl& control);

}  // namespace ridgeline::measure
