// SPDX-License-Identifier: Apache-2.0
#include "analysis/failure_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/messages.hpp"

namespace ridgeline::analysis {
namespace {

constexpr std::int64_t kNotableBytes = std::int64_t{1} << 30;

/// Other processes, before the trial or after it, who held most first.
std::vector<schema::GpuNeighbour> others(const schema::GpuTelemetry& gpu) {
  auto list = gpu.neighbours_before;
  for (const auto& late : gpu.neighbours_after)
    if (std::none_of(list.begin(), list.end(), [&](const auto& one) { return one.pid == late.pid; }))
      list.push_back(late);
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a.memory_bytes.value_or(0) > b.memory_bytes.value_or(0);
  });
  return list;
}

std::vector<schema::Message> said_of(const std::vector<schema::GpuNeighbour>& others) {
  constexpr std::size_t kNamed = 3;
  std::vector<schema::Message> items;
  for (const auto& one : others)
    if (items.size() < kNamed)
      items.push_back(one.memory_bytes
                          ? messages::process_held({.pid = one.pid, .memory = static_cast<double>(*one.memory_bytes)})
                          : messages::process_there(one.pid));
  if (others.size() > kNamed) items.push_back(messages::more_there(static_cast<std::int64_t>(others.size() - kNamed)));
  return items;
}

const schema::Failure* out_of_memory(const schema::TrialOutcome& outcome) {
  return outcome.status == schema::TrialStatus::out_of_memory && outcome.failure ? &*outcome.failure : nullptr;
}

}  // namespace

schema::Message memory_found(const schema::TrialOutcome& outcome) {
  const auto* failure = out_of_memory(outcome);
  if (failure == nullptr) return {};
  messages::MemoryFound found;
  if (failure->gpu) {
    const auto& gpu = *failure->gpu;
    found.free = gpu.memory_free_before_bytes;
    if (found.free && gpu.device_used_before_bytes)
      found.all = *found.free + static_cast<double>(*gpu.device_used_before_bytes);
    found.others = said_of(others(gpu));
  }
  found.before = found.free || !found.others.empty();
  for (const auto& flag : failure->flags) found.flags.push_back(flag.message);
  return found.before || !found.flags.empty() ? messages::memory_found(found) : schema::Message();
}

bool memory_was_taken(const schema::TrialOutcome& outcome) {
  const auto* failure = out_of_memory(outcome);
  if (failure == nullptr || !failure->gpu) return false;
  std::int64_t held = 0;
  for (const auto& one : others(*failure->gpu)) held += one.memory_bytes.value_or(0);
  return held >= kNotableBytes;
}

}  // namespace ridgeline::analysis
