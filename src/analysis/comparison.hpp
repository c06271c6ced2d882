// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/measurement.hpp"
#include "schema/objective.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// Interleaved blocks to a verdict on B against A: one log ratio a quad (A B B A cancels linear drift), Student's t
/// interval over quads on a robust location, then Verdict by interval and minimum effect.
[[nodiscard]] schema::Comparison compare_paired(const schema::PairedMeasurement& measurement, schema::Objective objective,
                                                double min_effect);

/// Two separate measurements (runs of different days): ratio of costs with a 95 % interval by bootstrap over time-ordered
/// blocks. Wider and weaker than compare_paired. Deterministic (seeded).
[[nodiscard]] schema::Comparison compare_separate(const schema::Measurement& a, const schema::Measurement& b,
                                                  schema::Objective objective, double min_effect);

}  // namespace ridgeline::analysis
