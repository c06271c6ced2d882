// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/findings.hpp"
#include "analysis/load_curve.hpp"
#include "analysis/ranking.hpp"
#include "report/format.hpp"
#include "schema/message_renderer.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::report {

/// What the sections of a tune report read: the records, the judgements made of them once, and how numbers are written.
/// Refers to the records, which must outlive it. Not copied, since its parts point into each other.
class TuneView {
 public:
  TuneView(const schema::MessageRenderer& words, const schema::TuneRun& run, const analysis::OutcomesByKey& outcomes,
           const analysis::PairsByKey& pairs);
  TuneView(const TuneView&) = delete;
  TuneView& operator=(const TuneView&) = delete;

  const schema::MessageRenderer& words;
  const schema::TuneRun& run;
  const analysis::OutcomesByKey& outcomes;
  const analysis::PairsByKey& pairs;
  std::vector<analysis::RankedTrial> ranking;
  std::vector<int> front;  ///< trial ids on the Pareto front
  std::vector<analysis::Finding> findings;
  Scale objective;           ///< of Cost.value
  Scale latency;             ///< of nanoseconds
  Scale rate;                ///< of items a second
  analysis::LoadCurve load;  ///< over batch sizes and sessions, GPU runs only

  /// What a message says.
  [[nodiscard]] std::string text(const schema::Message& message) const { return words.text(message); }
  /// The same with the trials that it names as links.
  [[nodiscard]] std::string linked(const schema::Message& message) const;

  /// nullptr when there is none.
  [[nodiscard]] const schema::TunedTrial* trial(int id) const;
  [[nodiscard]] const schema::TrialOutcome* outcome(const schema::TunedTrial& trial) const;
  [[nodiscard]] const analysis::RankedTrial* ranked(int id) const;
  /// The trial of the configuration in use; nullptr when it was never measured.
  [[nodiscard]] const schema::TunedTrial* current() const { return current_; }
  /// The trial that the verdict recommends, also to be kept; nullptr without a recommendation.
  [[nodiscard]] const schema::TunedTrial* recommended() const { return recommended_; }
  /// True when the answer is to change to another configuration.
  [[nodiscard]] bool changes() const;

  /// "Median latency", "99th-percentile latency", "Throughput".
  [[nodiscard]] std::string objective_title() const { return text(objective_name(run.request.objective, true)); }
  /// What was timed of copies.
  [[nodiscard]] schema::Message scenario() const;

  [[nodiscard]] bool on_gpu() const { return run.on_gpu(); }
  /// The GPU that was tuned on, where the records tell.
  [[nodiscard]] const schema::GpuDescription* gpu() const;
  /// The measurement of a trial, nullptr when it gave none.
  [[nodiscard]] const schema::Measurement* measurement(const schema::TunedTrial& trial) const;

  /// The settings that set a configuration apart from the current one, "key=value" each, as difference tells them.
  [[nodiscard]] std::vector<std::string> differences(const schema::Configuration& configuration) const;
  /// What sets a configuration apart from the current one, without marks: "intra_op_num_threads=2
  /// execution_mode=parallel", "current configuration"; a setting that falls back to the runtime's default shows that,
  /// or "key=default" where the machine decides.
  [[nodiscard]] std::string difference(const schema::Configuration& configuration) const;
  /// As difference, each setting a `code` mark.
  [[nodiscard]] std::string difference_marked(const schema::Configuration& configuration) const;
  /// How a trial ended: "ok", "stopped early", "rejected: accuracy", "out of memory", "not finished".
  [[nodiscard]] std::string ending(const schema::TunedTrial& trial) const;
  /// Trials by how they ended.
  struct Endings {
    std::size_t completed = 0;
    std::size_t stopped_early = 0;
    std::size_t unsuccessful = 0;  ///< failed or rejected
    std::size_t unfinished = 0;
  };
  [[nodiscard]] Endings endings() const;

 private:
  std::map<int, const schema::TunedTrial*> trials_by_id_;
  std::map<int, const analysis::RankedTrial*> ranked_by_id_;
  const schema::TunedTrial* current_ = nullptr;
  const schema::TunedTrial* recommended_ = nullptr;
};

/// Whether a trial has a value by the run's objective: not where its samples do not support a percentile.
[[nodiscard]] inline bool has_objective(const schema::TuneRun& run, const analysis::RankedTrial& ranked) {
  return run.request.objective != schema::Objective::p99 || ranked.summary.p99_ns;
}

/// What a recommended change writes to a config.yaml that means what is in use now: TuneVerdict::changes, or for
/// records without it what differs.
[[nodiscard]] std::vector<schema::SettingChange> changes_of(const schema::TuneRun& run);

/// "out of memory", "rejected: accuracy" ...
[[nodiscard]] std::string status_text(schema::TrialStatus status);

/// Text of ours that names trials ("trial 7", "trials 3, 5 and 9") with those numbers as links.
[[nodiscard]] std::string link_trials(const TuneView& view, std::string_view text);

}  // namespace ridgeline::report
