// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/summary.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

using OutcomesByKey = std::map<std::string, schema::TrialOutcome>;
using PairsByKey = std::map<std::string, schema::PairedOutcome>;

/// One line of the ranking table.
struct RankedTrial {
  const schema::TunedTrial* trial = nullptr;
  const schema::TrialOutcome* outcome = nullptr;
  Summary summary;
  Cost cost;      ///< what ranks: as measured, or corrected by the machine's speed at that moment
  Cost measured;  ///< as measured: the trial's number wherever one is shown
  int rank = 0;   ///< 1 = indistinguishable from the best
  bool meets_constraints = true;
  schema::Message broken_constraint;  ///< "latency_p99_ms 23.1 > 20"; empty: none
};

/// Whether a trial ranks by another number than it measured (schema::TunedTrial::corrected).
[[nodiscard]] inline bool is_corrected(const RankedTrial& ranked) { return ranked.trial->corrected.has_value(); }
[[nodiscard]] bool is_corrected(const std::vector<RankedTrial>& ranking);

/// Given up as slower before its measurement was complete.
[[nodiscard]] inline bool is_stopped_early(const RankedTrial& ranked) {
  return ranked.outcome->measurement->stop_reason == schema::StopReason::stopped_early;
}

/// Trials that ran to the end, best first, constraint breakers last. Those stopped early are listed after full ones of
/// the same rank, those whose interval is too wide for a figure (stats::is_too_wide) by its upper end. Tied, of one
/// rank: intervals that begin below the lowest upper end among them, or values within min_effect of the first's. Trials
/// with the same key are one measurement and appear once, under the first id; a measurement with an `error` flag does
/// not appear. Rank 1 is only for trials that meet the constraints. A percentile constraint that the samples cannot
/// support directly is compared with a binomial bound at 95 % (the rule of MLPerf LoadGen's early stopping); undecided
/// counts as not met and says how many samples would decide it.
[[nodiscard]] std::vector<RankedTrial> rank(const schema::TuneRun& run, const OutcomesByKey& outcomes);

/// Among equals (rank 1, not stopped early): closest to the current configuration, then fewest settings, then least
/// memory, then best. A setting at its catalogue default counts as unset. nullptr when no trial qualifies.
[[nodiscard]] const RankedTrial* simplest_of_best(const std::vector<RankedTrial>& ranking,
                                                  const schema::Configuration& current);

/// The earliest trial of a configuration that the ranking lists; nullptr: none.
[[nodiscard]] const schema::TunedTrial* trial_of(const std::vector<RankedTrial>& ranking,
                                                 const schema::Configuration& configuration);

/// True when a configuration other than the current one was tried, however that ended.
[[nodiscard]] bool tried_others(const schema::TuneRun& run);

/// True when the run recommends another value for the setting of a leave-one-out pair than the finalist had.
[[nodiscard]] bool was_dropped(const schema::TuneRun& run, const schema::TunedPair& pair);

/// The finalist with the highest ratio to the current configuration; nullptr: none was compared.
[[nodiscard]] const schema::TunedPair* best_finalist(const schema::TuneRun& run);

/// Of the finalists whose interval is so wide that it holds both "no faster" and a gain of the minimum effect, the one
/// with the highest ratio; nullptr: each comparison was decided.
[[nodiscard]] const schema::TunedPair* undecided_finalist(const schema::TuneRun& run);

/// Trial ids on the throughput (higher) / median latency (lower) front, by latency. Trials stopped early and constraint
/// breakers are left out; of two equal points the better ranked stays.
[[nodiscard]] std::vector<int> pareto_front(const std::vector<RankedTrial>& ranking);

/// Why the tolerance does not accept the outputs; nullopt: it does.
[[nodiscard]] std::optional<schema::Message> accuracy_fault(const schema::OutputError& output_error, double tolerance);

/// Tolerance on scaled_max_abs: the loosest of the outputs' element types (float 1e-3, float16 1e-2, bfloat16 5e-2,
/// double 1e-6), or of the parameters' when a tenth of them are of a coarser type; 1e-3 of the elements where all
/// outputs are integers, bools or text, as an argmax can flip on a tie. At least ten times `noise`, the model's own
/// run-to-run output error. Above 0 always, as 0 in a run stands for no check.
[[nodiscard]] double default_tolerance(const schema::ModelDescription& model, double noise);

}  // namespace ridgeline::analysis
