// SPDX-License-Identifier: Apache-2.0
// Somebody else's processes on the GPU.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"
#include "base/text.hpp"

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
  std::vector<std::string> names;
  constexpr std::size_t kNamed = 4;
  for (const auto pid : pids)
    if (names.size() < kNamed) names.push_back(fmt::format("{}", pid));
  if (pids.size() > kNamed) names.push_back(fmt::format("{} more", pids.size() - kNamed));
  return {{FindingKind::quality,
           fmt::format("Other processes were on the GPU during {} of {} trials{}", ids.size(),
                       evidence.run.trials.size(), chosen ? evidence.chosen_among_them() : ""),
           fmt::format("{}; process {}{}", trials_text(ids), base::listed(names),
                       most_bytes > 0 ? fmt::format(" with up to {} of its memory",
                                                    base::format_bytes(static_cast<double>(most_bytes)))
                                      : std::string()),
           "Repeat without them, or tune on a GPU that nobody else uses (--devices)"}};
}

}  // namespace ridgeline::analysis
