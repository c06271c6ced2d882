// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/loader_cost.hpp"

#include "campaign/messages.hpp"

namespace ridgeline::campaign {

std::vector<schema::Message> loader_cost(const std::vector<std::pair<std::string, double>>& transforms,
                                         double sample_ms, int workers) {
  constexpr double kDear = 0.1;  // of a sample's time
  if (transforms.empty()) return {messages::bench_no_transforms(sample_ms)};
  std::vector<schema::Message> notes;
  for (const auto& [name, ms] : transforms)
    if (ms >= kDear * sample_ms)
      notes.push_back(
          messages::bench_transform({.name = name,
                                     .ms = ms,
                                     .sample_ms = sample_ms,
                                     .workers = workers > 0 ? std::optional<std::int64_t>(workers) : std::nullopt}));
  if (notes.empty()) notes.push_back(messages::bench_cheap_transforms(sample_ms));
  return notes;
}

}  // namespace ridgeline::campaign
