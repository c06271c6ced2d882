// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/message.hpp"
#include "schema/tune_run.hpp"
#include "stats/interval.hpp"

namespace ridgeline::schema {

/// What became of a finding's change when it was tried.
struct ProfileVerification {
  std::string change;              ///< "compile"; of a model the setting, "graph_optimization_level=all"
  Message what;                    ///< the change in words
  std::vector<double> present_ns;  ///< median step of each process, or of a model one median
  std::vector<double> changed_ns;
  std::optional<Comparison> comparison;  ///< changed against present, above 1: faster; nullopt: not measured
  Message reason;                        ///< why not; empty: measured
  std::vector<Message> remarks;          ///< outputs, losses, processes that are missing
  std::string measured_utc;

  /// Share of a step that the change saves; below 0: it costs. Only with a comparison.
  [[nodiscard]] stats::Estimate saving() const;
};
RL_DECLARE_JSON(ProfileVerification)

}  // namespace ridgeline::schema
