// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/measurement.hpp"
#include "schema/objective.hpp"
#include "schema/tune_run.hpp"
#include "stats/interval.hpp"
#include "stats/round_estimate.hpp"

namespace ridgeline::analysis {

/// Interleaved blocks to a verdict on B against A: one log ratio an ABBA round (A B B A cancels linear drift),
/// Student's t interval over ABBA rounds on a robust location (20 % trimmed mean, Winsorized variance: Tukey and
/// McLaughlin 1963; Yuen 1974), then the verdict by interval and minimum effect. min_effect is a share (0.02). What
/// pairs of sessions differ by is in the interval (estimate_of_rounds). A block's cost is its median latency (latency)
/// or wall time an item (throughput). For p99 whole ABBA rounds are pooled until each group supports the tail; with too
/// few samples altogether the largest supported percentile takes its place, and `tail` says which. ABBA rounds that are
/// incomplete or out of order are left out. Without any the result is the default Comparison. `session_stdev`: what is
/// known beforehand of how sessions differ (device_learning.hpp); 0: nothing.
[[nodiscard]] schema::Comparison compare_paired(const schema::PairedMeasurement& measurement,
                                                schema::Objective objective, double min_effect,
                                                double session_stdev = 0);

/// Two separate measurements (runs of different days): ratio of costs with a 95 % interval by bootstrap over
/// time-ordered blocks, so that slow drift within a run counts in full, widened by kRunToRunStdev, which no single run
/// can show. Wider and weaker than compare_paired. Deterministic (seeded). `abba_rounds` stays 0.
[[nodiscard]] schema::Comparison compare_separate(const schema::Measurement& a, const schema::Measurement& b,
                                                  schema::Objective objective, double min_effect);

/// How sessions of one configuration differ, by such blocks (for p99 by their medians); nullopt where they do not tell.
[[nodiscard]] std::optional<stats::SessionScatter> session_scatter(const schema::PairedMeasurement& measurement,
                                                                   schema::Objective objective);

/// The same comparison of A against B.
[[nodiscard]] schema::Comparison inverted(const schema::Comparison& comparison) noexcept;

/// Standard deviation of log cost from one session of a configuration to the next on a GPU, where the device's own is
/// not known (session_stdev): 1 to 1.5 % on H200s. Making a pair of them takes up to seconds, so that a comparison has
/// too few to tell by themselves.
inline constexpr double kGpuSessionStdev = 0.015;

/// The least difference, as a share, that two separate runs can be distinguished by, however long they are.
[[nodiscard]] double separate_floor();

/// The minimum effect by which two separate runs are compared where nobody names another: separate_floor in whole per
/// cent, as with less two equal runs are never found equal.
[[nodiscard]] double separate_min_effect();

/// Interval limits are cut to 1/kUnbounded .. kUnbounded; these stand for "nothing is known".
inline constexpr double kUnbounded = 1e6;

/// The verdict on a ratio and its interval: faster or slower when the interval excludes 1 and the ratio reaches
/// 1 + min_effect (or its reciprocal); no_difference when the interval lies within that band, or excludes 1 by an
/// effect below it; else inconclusive.
[[nodiscard]] schema::Verdict judge(double ratio, double low, double high, double min_effect) noexcept;

/// Non-inferiority: whether B is shown to be at most `margin` (a share) slower than A, by the bad end of the 95 %
/// interval of the two measured head to head (so at 97.5 %, as ICH E9, section 3.3.2, has it). What is too noisy to
/// tell is not shown.
[[nodiscard]] bool is_no_slower(const schema::Comparison& b_against_a, double margin) noexcept;

/// Whether a comparison says how its arms would compare on the quiet machine: not where other processes disturbed all
/// of it, or the machine was notably slower than at its quietest (schema::kOthersThroughout, kSlowStretch).
[[nodiscard]] bool is_of_quiet_machine(const schema::TunedPair& pair) noexcept;
/// Non-inferiority of B by a comparison of the run: is_no_slower, of a quiet machine.
[[nodiscard]] bool is_as_good(const schema::TunedPair& pair, double margin) noexcept;

/// B against A by two separate measurements that are known by their costs and 95 % intervals (lower is better), as
/// compare_separate; inconclusive where one of them has no interval.
[[nodiscard]] schema::Comparison compare_estimates(const stats::Estimate& a, const stats::Estimate& b,
                                                   double min_effect);

/// Whether two costs that were measured at different times (analysis::Cost) give a ratio that the comparison of the two
/// allows: on an uneven machine they often do not, and only the comparison counts.
[[nodiscard]] bool agrees(const schema::Comparison& b_against_a, double cost_a, double cost_b) noexcept;
/// Medians of the two arms of a comparison, in ns, blocks during which others took CPUs left out. nullopt: an arm is
/// empty.
struct ArmMedians {
  double a_ns = 0;
  double b_ns = 0;
};
[[nodiscard]] std::optional<ArmMedians> arm_medians(const schema::PairedMeasurement& measurement);

}  // namespace ridgeline::analysis
