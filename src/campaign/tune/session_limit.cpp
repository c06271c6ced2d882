// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/session_limit.hpp"

#include <algorithm>

#include "analysis/ranking.hpp"
#include "campaign/messages.hpp"

namespace ridgeline::campaign {
namespace {

constexpr const char* kKey = "parallel_sessions";

}  // namespace

std::int64_t sessions_of(const schema::Configuration& configuration) {
  return std::max<std::int64_t>(1, configuration.get_or(kKey, 1).as_integer(1));
}

std::vector<search::Proposal> SessionLimit::keep(const TuneResult& result, const std::vector<search::Proposal>& batch) {
  const auto ranking = analysis::rank(result.run, result.outcomes);
  const auto most = ranking.empty() ? 1 : sessions_of(ranking.front().trial->configuration);
  std::vector<search::Proposal> kept;
  for (const auto& proposal : batch) {
    const auto sessions = sessions_of(proposal.configuration);
    if (sessions <= most || proposal.configuration == result.run.current)
      kept.push_back(proposal);
    else if (std::find(counts_.begin(), counts_.end(), schema::Value(sessions)) == counts_.end())
      counts_.emplace_back(sessions);
  }
  return kept;
}

std::optional<schema::PrunedParam> SessionLimit::left_out(const schema::TuneRun& run) const {
  schema::PrunedParam entry{kKey, counts_, messages::no_time_for_sessions()};
  std::erase_if(entry.values, [&](const schema::Value& count) {
    return std::any_of(run.trials.begin(), run.trials.end(),
                       [&](const auto& trial) { return sessions_of(trial.configuration) == count.as_integer(); });
  });
  if (entry.values.empty()) return std::nullopt;
  return entry;
}

}  // namespace ridgeline::campaign
