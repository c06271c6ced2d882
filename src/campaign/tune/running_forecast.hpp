// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "campaign/tune/run_context.hpp"

namespace ridgeline::campaign {

/// How long a run goes on, by what its first trials took (TuneBudget::forecast knows only the plans).
class RunningForecast : private RunPart {
 public:
  explicit RunningForecast(RunContext& context) : RunPart(context) {}

  /// Called after each batch of trials; `remaining`: trials that the search is likely to go on with. Once a few were
  /// measured, it passes the forecast to the observer.
  void look(std::size_t remaining);
  /// Seconds that the search is likely to go on; 0 before any trial was measured.
  [[nodiscard]] double search_s(std::size_t remaining) const;

 private:
  /// What follows the search: the comparisons that decide, and what explains the answer.
  [[nodiscard]] double comparisons_s() const;
  /// That a comparison on a CPU times until its interval is narrow, by how exact the trials were.
  [[nodiscard]] double blocks_s() const;
  /// Of comparing `b` with `a`.
  [[nodiscard]] double pair_s(const schema::Configuration& a, const schema::Configuration& b, bool fresh) const;

  double next_look_s_ = 0;        ///< no sooner than that
  std::optional<double> said_s_;  ///< the latest forecast, of the whole run
};

}  // namespace ridgeline::campaign
