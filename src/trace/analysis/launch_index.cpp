// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/launch_index.hpp"

#include <algorithm>
#include <bit>

namespace ridgeline::trace {

bool has_launches(const ApiCalls& calls) {
  return std::any_of(calls.correlation.begin(), calls.correlation.end(), [](auto joined_by) { return joined_by != 0; });
}

LaunchIndex::LaunchIndex(const Trace& trace) : trace_(trace) {
  const auto& calls = trace.calls;
  const auto joined =
      calls.size() - static_cast<std::size_t>(std::count(calls.correlation.begin(), calls.correlation.end(), 0));
  slots_.assign(std::bit_ceil(joined * 2 + 1), kNowhere);
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (calls.correlation[i] != 0) insert(static_cast<Place>(i));
}

std::size_t LaunchIndex::slot_of(std::int64_t correlation) const noexcept {
  const auto mixed = static_cast<std::uint64_t>(correlation) * 0x9E3779B97F4A7C15ULL;
  return (mixed ^ (mixed >> 32U)) & (slots_.size() - 1);
}

void LaunchIndex::insert(Place call) {
  const auto& calls = trace_.calls;
  auto slot = slot_of(calls.correlation[call]);
  for (; slots_[slot] != kNowhere; slot = (slot + 1) & (slots_.size() - 1)) {
    auto& other = slots_[slot];
    if (calls.correlation[other] != calls.correlation[call] || process_of(other) != process_of(call)) continue;
    if (calls.start_ns[call] < calls.start_ns[other]) other = call;
    return;
  }
  slots_[slot] = call;
}

Place LaunchIndex::call_of(std::int64_t process, std::int64_t correlation) const {
  if (correlation == 0) return kNowhere;
  const auto& calls = trace_.calls;
  Place found = kNowhere;
  for (auto slot = slot_of(correlation); slots_[slot] != kNowhere; slot = (slot + 1) & (slots_.size() - 1)) {
    const auto call = slots_[slot];
    if (calls.correlation[call] != correlation) continue;
    if (process_of(call) == process && process != 0) return call;
    if (process == 0 && (found == kNowhere || calls.start_ns[call] < calls.start_ns[found])) found = call;
  }
  return found;
}

std::vector<Place> LaunchIndex::calls_of(const Spans& work) const {
  std::vector<Place> out(work.size(), kNowhere);
  for (std::size_t i = 0; i < work.size(); ++i)
    out[i] = call_of(trace_.gpu_lanes[work.lane[i]].process, work.correlation[i]);
  return out;
}

}  // namespace ridgeline::trace
