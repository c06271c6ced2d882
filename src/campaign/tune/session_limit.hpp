// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "campaign/tune/tune_campaign.hpp"
#include "search/searcher.hpp"

namespace ridgeline::campaign {

/// How many sessions a trial keeps in flight, at least 1.
[[nodiscard]] std::int64_t sessions_of(const schema::Configuration& configuration);

/// Leaves out proposals with many sessions in flight, each of which takes its time to make, where --max-time has no
/// room for them but may have for others.
class SessionLimit {
 public:
  /// The proposals with no more sessions than the fastest trial so far, and the current configuration; what is left out
  /// is remembered.
  [[nodiscard]] std::vector<search::Proposal> keep(const TuneResult& result,
                                                   const std::vector<search::Proposal>& batch);
  /// The numbers of sessions that no trial of the run has, with the reason; nullopt: there are none.
  [[nodiscard]] std::optional<schema::PrunedParam> left_out(const schema::TuneRun& run) const;

 private:
  std::vector<schema::Value> counts_;
};

}  // namespace ridgeline::campaign
