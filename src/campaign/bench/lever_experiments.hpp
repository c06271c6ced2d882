// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/loss_gate.hpp"
#include "campaign/bench/bench_trials.hpp"
#include "schema/training_lever.hpp"

namespace ridgeline::campaign {

/// Tries each lever of BenchRequest::levers under the recommended settings: trials with it and without, in
/// counterbalanced order. What does not lead after two rounds is left out of two more, after which all trials with a
/// lever have to be faster than all without: of equals one in seventy would be. A lever that leads is recommended only
/// if its losses are those of the training without it. The trials are none of the search, whose settings they do not
/// have; what helps is a finding, the rest are notes. Then combinations: in an adaptive search those that
/// search::LeverSearch proposes, else all at once that help.
class LeverExperiments {
 public:
  LeverExperiments(BenchTrials& trials, const BenchRequest& request, schema::BenchRun& run);
  [[nodiscard]] base::Result<void> run(const schema::TrainingSettings& base);

 private:
  using Levers = std::vector<const schema::TrainingLever*>;
  struct Tried {
    Levers levers;  ///< on at once; none: the settings alone
    std::vector<double> rates;
    std::vector<double> memory_gb;
    std::vector<analysis::LossCurve> curves;
    std::vector<schema::Message> remarks;  ///< of the trial: what a lever chose
    schema::Message problem;
    bool has_no_effect = false;  ///< which is the problem
    bool trails = false;         ///< after the first rounds
    [[nodiscard]] bool measures_memory() const;
    [[nodiscard]] bool is_offer() const;
    [[nodiscard]] bool is_for_speed() const;
  };
  /// A row of each lever that is asked for and has its condition; notes for the others.
  [[nodiscard]] std::vector<Tried> possible(const schema::TrainingSettings& base);
  /// Whether each trial with it was faster than each without, by enough on average.
  [[nodiscard]] static bool leads(const Tried& tried, const Tried& without);
  /// Rounds of all, in counterbalanced order.
  [[nodiscard]] base::Result<void> measure_rounds(std::vector<Tried>& all, const schema::TrainingSettings& base,
                                                  int first);
  [[nodiscard]] base::Result<void> measure(Tried& tried, const schema::TrainingSettings& base, int round);
  [[nodiscard]] static analysis::LossComparison compare(const Tried& tried, const Tried& without,
                                                        const schema::TrainingSettings& base);
  /// Notes and findings; those that help, the best value of each name, the fastest first.
  [[nodiscard]] std::vector<const Tried*> report(const std::vector<Tried>& all, const schema::TrainingSettings& base);
  void report_memory(const Tried& tried, const Tried& without, const schema::TrainingSettings& base);
  /// Of `all`, those that train something else and that none of less change beats in both samples/s and memory.
  void report_offers(const std::vector<Tried>& all);
  /// Why one that leads is not recommended; false: it is the same training.
  [[nodiscard]] bool note_other_losses(const Tried& tried, double gain, const analysis::LossComparison& losses);
  void add_finding(std::string code, schema::Message title, const Tried& tried, const Tried& without,
                   const schema::TrainingSettings& base);
  /// Of levers that help, the fastest first: all that can be on at once.
  [[nodiscard]] static Levers levers_of(const std::vector<const Tried*>& helps);
  /// Combinations of levers with the same losses, as search::LeverSearch proposes them; the best is compared as by
  /// try_together. `helps`: those of `all` that help alone; without any there is nothing to combine.
  [[nodiscard]] base::Result<void> search_together(const std::vector<Tried>& all,
                                                   const std::vector<const Tried*>& helps,
                                                   const schema::TrainingSettings& base);
  /// Two or more of them at once against none.
  [[nodiscard]] base::Result<void> try_together(const Levers& levers, const schema::TrainingSettings& base);

  BenchTrials& trials_;
  const BenchRequest& request_;
  schema::BenchRun& run_;
};

}  // namespace ridgeline::campaign
