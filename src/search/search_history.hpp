// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/searcher.hpp"

namespace ridgeline::search {

struct Observed {
  schema::Configuration configuration;
  Observation observation;
  bool in_space = true;  ///< false: the user's current configuration, when the space does not hold it
};

/// What a searcher has proposed and seen. Refuses what was proposed before, what the space
/// forbids, and what surely needs more memory than something that ran out of it.
class SearchHistory {
 public:
  explicit SearchHistory(const SearchSpace& space) : space_(&space) {}

  /// A proposal of the canonical form, or nullopt when that is forbidden or no news.
  [[nodiscard]] std::optional<Proposal> offer(const schema::Configuration& configuration, schema::TrialStage stage,
                                              schema::Message reason);
  /// As offer, for a configuration that is tried even outside the space (the user's current one).
  [[nodiscard]] std::optional<Proposal> offer_as_is(const schema::Configuration& configuration,
                                                    schema::TrialStage stage, schema::Message reason);
  void record(const Proposal& proposal, const Observation& observation);
  /// Puts another observation in the place of the configuration's; nothing where there is none.
  void revise(const schema::Configuration& configuration, const Observation& observation);

  /// Or refused for its need of memory: either way there is no use in offering it.
  [[nodiscard]] bool proposed(const schema::Configuration& configuration) const {
    return proposed_.count(configuration) != 0 || skipped_for_memory_.count(configuration) != 0;
  }
  [[nodiscard]] std::size_t proposals() const noexcept { return proposed_.size(); }
  [[nodiscard]] const std::vector<Observed>& observed() const noexcept { return observed_; }
  /// nullptr when it was not observed.
  [[nodiscard]] const Observed* find(const schema::Configuration& configuration) const;
  /// The lowest cost within the space that was measured in full; nullptr when nothing was.
  [[nodiscard]] const Observed* best() const noexcept;
  /// What further guesses should change: the best, or of those within `margin` of it (a share of its cost) the one
  /// whose trials take least to set up, where that saves enough. nullptr when nothing was measured in full.
  [[nodiscard]] const Observed* incumbent(double margin) const noexcept;
  /// Whether the configuration was seen to cost no less than incumbent(margin), up to the margin, and takes so much
  /// longer to set up that nothing is built on it.
  [[nodiscard]] bool is_slow_tie(const schema::Configuration& configuration, double margin) const noexcept;
  /// What was refused for its need of memory, by setting.
  [[nodiscard]] std::vector<schema::PrunedParam> starved() const;
  /// Cost above which a candidate cannot come within `margin` of the best any more; nullopt without a best.
  [[nodiscard]] std::optional<double> hopeless_above(double margin) const noexcept;
  /// Whether batches of this size were measured in full in any trial, or there is no choice of sizes: the curve over
  /// them needs one trial of each.
  [[nodiscard]] bool knows_batch(const schema::Configuration& configuration) const;

 private:
  void find_best();
  [[nodiscard]] bool refuse_as_hungrier(const schema::Configuration& configuration);

  const SearchSpace* space_;
  std::set<schema::Configuration> proposed_;
  std::vector<Observed> observed_;
  std::map<schema::Configuration, std::size_t> index_;
  std::optional<std::size_t> best_;
  std::vector<schema::Configuration> out_of_memory_;
  std::map<schema::Configuration, schema::Configuration> skipped_for_memory_;  ///< with what had run out of memory
};

}  // namespace ridgeline::search
