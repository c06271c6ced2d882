// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "search/factor.hpp"
#include "search/search_history.hpp"

namespace ridgeline::search {

/// A configuration worth trying and how far behind the best it may fall before it is given up.
struct Step {
  schema::Configuration configuration;
  schema::TrialStage stage = schema::TrialStage::screening;
  schema::Message reason;
  double race_margin = 0.1;
};

/// The first part of the adaptive search: each factor alone, on top of the best so far, the most influential first; the
/// parallel mode with other thread counts when it comes near; the combination of everything that helped; random draws
/// when nothing has worked at all. On a GPU, where a time limit may leave few trials: bindings without a CUDA graph
/// only where no graph gains, then all best guesses at once, and the next best bindings again once layout and sessions
/// are known.
class Screening {
 public:
  Screening(const SearchSpace& space, const std::vector<Factor>& factors, double min_effect, std::uint64_t seed);

  /// The next step, possibly one that the history refuses because it is known; nullopt when screening is over.
  [[nodiscard]] std::optional<Step> next(const SearchHistory& history);
  /// As next(), but nothing is planned: nullopt until next() has done so.
  [[nodiscard]] std::optional<Step> next_planned();
  [[nodiscard]] std::size_t upcoming() const;

 private:
  enum class Part { open, rest, close };

  bool plan(const SearchHistory& history);
  void open_factor(const SearchHistory& history);
  void plan_rest(const SearchHistory& history);
  void close_factor(const SearchHistory& history);
  bool plan_around_best_threads(const SearchHistory& history);
  void plan_threads_in_parallel_mode(const SearchHistory& history);
  void plan_plain_bindings(const SearchHistory& history);
  void plan_guesses(const SearchHistory& history);
  void plan_other_bindings(const SearchHistory& history);
  void plan_combination(const SearchHistory& history);
  void plan_rescue();
  void push(const schema::Configuration& configuration, schema::Message reason);

  [[nodiscard]] const Factor& factor() const { return (*factors_)[factor_at_]; }
  [[nodiscard]] std::vector<std::size_t> first_levels() const;
  [[nodiscard]] std::vector<std::size_t> bindings(bool with_graph) const;
  [[nodiscard]] std::vector<std::size_t> widest_thread_levels() const;
  [[nodiscard]] std::optional<double> base_cost(const SearchHistory& history) const;
  [[nodiscard]] std::optional<double> cost_at(std::size_t level, const SearchHistory& history) const;
  [[nodiscard]] std::optional<std::size_t> best_level(const SearchHistory& history) const;

  const SearchSpace* space_;
  const std::vector<Factor>* factors_;
  double min_effect_;
  base::Random random_;
  std::deque<Step> queue_;
  std::size_t factor_at_ = 0;
  Part part_ = Part::open;
  int extras_ = 0;                               ///< plans made after the last factor
  schema::Configuration base_;                   ///< what the factor at hand is tried on
  bool has_base_ = false;                        ///< something that worked
  std::optional<std::size_t> climbed_from_;      ///< joint threads: the level whose neighbours were planned last
  std::size_t bindings_again_after_ = SIZE_MAX;  ///< the factor after which other bindings get a second chance ...
  std::size_t bindings_again_ = 0;               ///< ... and how many
  bool graph_gains_ = false;                     ///< so that no binding without one is worth a trial
  std::vector<std::pair<std::size_t, std::size_t>> helpful_;  ///< factor and level that beat its base a little
};

}  // namespace ridgeline::search
