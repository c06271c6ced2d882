// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::measure {

/// What a trial took, as far as it tells how long others take.
struct TrialCost {
  bool tried = false;
  bool timed = false;  ///< it has inference times
  double sessions = 1;
  double duration_s = 0;
  double untimed_s = 0;    ///< all but the timed inferences: sessions, warm-up, checks; of a failed trial everything
  double saved_s = 0;      ///< of that, what making it again takes from a cache of compiled code
  double create_s = 0;     ///< creating one session
  double session_s = 0;    ///< creating the first session, and its first inference
  double inference_s = 0;  ///< median; only arms of a comparison need it
};
/// Without the median, which takes sorting.
[[nodiscard]] TrialCost trial_cost(const schema::TrialOutcome& outcome, double sessions);
[[nodiscard]] TrialCost trial_cost_with_median(const schema::TrialOutcome& outcome, double sessions);

/// In the order in which a run made them. Means leave out the first where there are others, because it starts the
/// runtime.
using TrialCosts = std::vector<TrialCost>;

/// Seconds that another trial is likely to take: the mean of the timed parts, and of the rest for each session. 0
/// before any.
[[nodiscard]] double expected_trial_s(const TrialCosts& made, double sessions);
/// The longest trial, without the first where there are others.
[[nodiscard]] double longest_trial_s(const TrialCosts& made);
/// Seconds that a trial may take in a fresh process on a GPU.
[[nodiscard]] double expected_isolated_s(const TrialCosts& made, const TrialCost& own);
/// Seconds that reading the runtime's graph may take: creating a session once more, writing and reading the weights. 0
/// before any trial went well.
[[nodiscard]] double expected_graph_s(const TrialCosts& known, std::int64_t weight_bytes);

/// What the arms of a comparison take in each round.
struct PairCost {
  struct Arm {
    double setup_s = 0;    ///< the first time, with the warm-up
    double session_s = 0;  ///< again, on a warm machine
    double inference_s = 0;
    /// Seconds until its sessions are there, which are all made at a time in the background, in processes of their own;
    /// unset: they are made one after another.
    std::optional<double> ready_s{};
  };
  Arm a;
  Arm b;
  double start_s = 0;  ///< of a fresh process
};
/// `b` may be untried: its sessions may take as long as the slowest that were made.
[[nodiscard]] PairCost pair_cost(const TrialCosts& made, const TrialCost& a, const TrialCost& b, bool on_gpu,
                                 bool fresh_process);

/// The same where each session is made in a fresh process, PairedSpec::across.
[[nodiscard]] PairCost in_own_processes(PairCost cost, bool on_gpu);

/// The plan with no more pairs of sessions than it has time to make, where they are made in the background and so cost
/// no time that measure::measure_paired_rounds sees.
[[nodiscard]] schema::PairedPlan with_rounds_by_cost(schema::PairedPlan plan, const PairCost& cost);

/// Seconds that a comparison may take: the sessions of each round, as many blocks as an uneven machine asks for, and
/// the start of the process.
[[nodiscard]] double expected_pair_s(const schema::PairedPlan& plan, const PairCost& cost);

/// The plan of a comparison that has `left_s`: where it is expected to take longer, with blocks for half the time at
/// least, and if that is too long with one pair of sessions in place of two. Plans that make as many pairs as an uneven
/// machine needs keep their sessions, those for a percentile keep their blocks.
[[nodiscard]] schema::PairedPlan fitted_plan(const schema::PairedPlan& plan, const PairCost& cost, double left_s);

}  // namespace ridgeline::measure
