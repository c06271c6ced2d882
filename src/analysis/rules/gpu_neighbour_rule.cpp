// SPDX-License-Identifier: Apache-2.0
// Somebody else's processes on the GPU.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {

std::vector<Finding> gpu_neighbour_rule(const Evidence& evidence) {
  std::vector<int> ids;
  std::set<std::int64_t> pids;
  std::int64_t most_bytes = 0;
  bool chosen = false;
  for (const auto& trial : evidence.run.trials) {
    const auto at = evidence.outcomes.find(trial.key);
    if (at == evidence.outcomes.end() || !at->second.measurement || !at->second.measurement->gpu) continue;
    const auto& gpu = *at->second.measurement->gpu;
    if (gpu.neighbours_before.empty() && gpu.neighbours_after.empty()) continue;
    ids.push_back(trial.id);
    chosen = chosen || (evidence.chosen != nullptr && evidence.chosen->trial->id == trial.id);
    for (const auto* list : {&gpu.neighbours_before, &gpu.neighbours_after}) {
      std::int64_t bytes = 0;
      for (const auto& neighbour : *list) {
        pids.insert(neighbour.pid);
        bytes += neighbour.memory_bytes.value_or(0);
      }
      most_bytes = std::max(most_bytes, bytes);
    }
  }
  if (ids.empty()) return {};
  std::vector<std::string> named;
  constexpr std::size_t kNamed = 4;
  for (const auto pid : pids)
    if (named.size() < kNamed) named.push_back(fmt::format("{}", pid));
  const auto more = static_cast<std::int64_t>(pids.size() - named.size());
  return {{FindingKind::quality,
           messages::neighbours({.count = static_cast<std::int64_t>(ids.size()),
                                 .all = static_cast<std::int64_t>(evidence.run.trials.size()),
                                 .among = chosen,
                                 .best = evidence.chosen_is_best()}),
           messages::neighbours_evidence(
               {.trials = ids,
                .pids = named,
                .more = more > 0 ? std::optional(more) : std::nullopt,
                .memory = most_bytes > 0 ? std::optional(static_cast<double>(most_bytes)) : std::nullopt}),
           messages::avoid_neighbours()}};
}

}  // namespace ridgeline::analysis
