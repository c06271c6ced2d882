// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/recording_cost.hpp"

#include "campaign/messages.hpp"

namespace ridgeline::campaign {
namespace {

double share_of(std::int64_t ns, const trace::RecordedProcess& process) {
  return static_cast<double>(ns) / static_cast<double>(process.step_without_ns);
}

double cost_of(const trace::RecordedProcess& process) {
  return share_of(process.step_with_ns - process.step_without_ns, process);
}

}  // namespace

schema::Message recording_cost(const std::vector<trace::RecordedProcess>& processes) {
  const trace::RecordedProcess* most = nullptr;
  for (const auto& one : processes)
    if (one.step_without_ns > 0 && (most == nullptr || cost_of(one) > cost_of(*most))) most = &one;
  if (most == nullptr) return messages::recording_cost_unknown();
  const auto without = static_cast<double>(most->step_without_ns);
  // A difference that blocks of one kind have among themselves is none.
  if (most->step_with_ns - most->step_without_ns <= most->step_spread_ns)
    return messages::recording_cost_small({.share = share_of(most->step_spread_ns, *most), .without = without});
  return messages::recording_cost(
      {.share = cost_of(*most), .with = static_cast<double>(most->step_with_ns), .without = without});
}

}  // namespace ridgeline::campaign
