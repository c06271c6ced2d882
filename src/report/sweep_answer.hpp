// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/sweep.hpp"

namespace ridgeline::report {

/// "batch=64 workers=4"; of a sweep without parameters "the command as it is".
[[nodiscard]] std::string sweep_point_name(const schema::MessageRenderer& words, const schema::SweepRun& run,
                                           const schema::SweepPoint& point);
/// "batch=64 workers=4: 4120 ±25 samples_per_s".
[[nodiscard]] schema::Message sweep_answer_of(const schema::MessageRenderer& words, const schema::SweepRun& run,
                                              const schema::SweepPoint& point);
/// "1.31x as good as the first combination (95 % interval 1.29–1.33)"; empty: nothing to compare.
[[nodiscard]] schema::Message sweep_gain(const schema::SweepRun& run);

/// ReportModel::asked and ReportModel::answer: the recommended combination and its gain, what to do next, how many
/// failed, and at most five combinations.
[[nodiscard]] std::string sweep_asked(const schema::MessageRenderer& words, const schema::SweepRun& run);
[[nodiscard]] Section sweep_answer_section(const schema::MessageRenderer& words, const schema::SweepRun& run);

}  // namespace ridgeline::report
