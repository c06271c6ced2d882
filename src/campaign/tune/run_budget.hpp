// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "campaign/tune/trial_runner.hpp"
#include "search/search_space.hpp"

namespace ridgeline::campaign {

/// What is left of --max-time for the search, the comparisons after it kept in mind. All arguments must outlive it.
class RunBudget {
 public:
  RunBudget(const TrialRunner& runner, const TuneRequest& request, const TuneResult& result,
            const search::SearchSpace& space)
      : runner_(runner), request_(request), result_(result), space_(space) {}

  /// Infinite without --max-time.
  [[nodiscard]] double time_left_s() const;
  /// Whether there is no time for `next_s` more and the comparison after it, which any of `next` may be in. The search
  /// ends early enough for the comparisons, but a slow start does not take the first candidate's chance.
  [[nodiscard]] bool is_up(double next_s, const std::vector<search::Proposal>& next) const;
  /// The same of measuring these.
  [[nodiscard]] bool is_up(const std::vector<search::Proposal>& next) const;
  /// Early, as a search mostly ends when the time is just enough for its comparisons. One without fresh processes has
  /// no time for more than these.
  [[nodiscard]] bool has_time_for_graph() const;

 private:
  [[nodiscard]] bool has_one_pair() const { return request_.finalists == 1 && !request_.leave_one_out; }
  [[nodiscard]] double pair_s(const std::vector<search::Proposal>& next) const;

  const TrialRunner& runner_;
  const TuneRequest& request_;
  const TuneResult& result_;
  const search::SearchSpace& space_;
};

}  // namespace ridgeline::campaign
