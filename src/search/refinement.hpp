// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "search/additive_model.hpp"
#include "search/factor.hpp"
#include "search/screening.hpp"
#include "search/search_history.hpp"

namespace ridgeline::search {

/// The last part of the adaptive search: single and double changes of the best configuration that could still gain half
/// the minimum effect, the most promising first. How far the additive model may be wrong (interactions between
/// settings) starts from a prior and is learned from its errors.
class Refinement {
 public:
  static constexpr std::size_t kPatience = 10;    ///< ends after so many steps in a row without gain
  static constexpr std::size_t kGpuPatience = 6;  ///< settings interact less there
  static constexpr std::size_t kMost = 60;

  Refinement(const SearchSpace& space, const std::vector<Factor>& factors, double min_effect);

  [[nodiscard]] std::optional<Step> next(const SearchHistory& history);
  /// What it would propose from now on if nothing that is observed changed its mind, `most` at most.
  [[nodiscard]] std::vector<schema::Configuration> foreseen(const SearchHistory& history, std::size_t most) const;
  [[nodiscard]] std::size_t upcoming() const;

 private:
  struct Change {
    std::size_t factor = 0;
    std::size_t level = 0;
    double gain = 0;      ///< predicted change of log cost against the best; negative is better
    double variance = 0;  ///< of that prediction
  };
  struct Candidate {
    double bound;  ///< optimistic log cost against the best
    double expected;
    Change first;
    std::optional<Change> second;
  };

  void learn(const SearchHistory& history);
  [[nodiscard]] std::vector<Change> changes(const SearchHistory& history) const;
  [[nodiscard]] std::vector<Candidate> plausible(const SearchHistory& history) const;
  [[nodiscard]] schema::Configuration applied(const Candidate& candidate, schema::Configuration best) const;
  [[nodiscard]] bool is_new(const SearchHistory& history, const schema::Configuration& configuration) const;
  [[nodiscard]] std::vector<std::vector<bool>> hopeless_levels(const SearchHistory& history) const;

  const SearchSpace* space_;
  const std::vector<Factor>* factors_;
  double min_effect_;
  std::size_t patience_;
  std::size_t steps_ = 0;
  std::size_t without_gain_ = 0;
  double error_squares_;
  double error_count_;
  struct Awaited {
    schema::Configuration configuration;
    schema::Configuration best;  ///< when it was proposed
    double expected_change;      ///< of log cost, against that
  };
  std::optional<Awaited> awaited_;
};

}  // namespace ridgeline::search
