// SPDX-License-Identifier: Apache-2.0
#include "analysis/failure_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "analysis/rules/wording.hpp"
#include "base/text.hpp"

namespace ridgeline::analysis {
namespace {

constexpr std::int64_t kNotableBytes = std::int64_t{1} << 30;

std::string bytes_text(std::int64_t bytes) { return base::format_bytes(static_cast<double>(bytes)); }

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

std::string others_text(const std::vector<schema::GpuNeighbour>& others) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> items;
  for (const auto& one : others)
    if (items.size() < kNamed)
      items.push_back(one.memory_bytes ? fmt::format("process {} held {}", one.pid, bytes_text(*one.memory_bytes))
                                       : fmt::format("process {} was there", one.pid));
  if (others.size() > kNamed) items.push_back(fmt::format("{} more were there", others.size() - kNamed));
  return base::listed(items);
}

const schema::Failure* out_of_memory(const schema::TrialOutcome& outcome) {
  return outcome.status == schema::TrialStatus::out_of_memory && outcome.failure ? &*outcome.failure : nullptr;
}

}  // namespace

std::string memory_found(const schema::TrialOutcome& outcome) {
  const auto* failure = out_of_memory(outcome);
  if (failure == nullptr) return "";
  std::vector<std::string> parts;
  if (failure->gpu) {
    const auto& gpu = *failure->gpu;
    if (const auto free = gpu.memory_free_before_bytes)
      parts.push_back(fmt::format(
          "{}{} were free before", bytes_text(*free),
          gpu.device_used_before_bytes ? " of " + bytes_text(*free + *gpu.device_used_before_bytes) : std::string()));
    if (const auto list = others(gpu); !list.empty()) parts.push_back(others_text(list));
  }
  for (const auto& flag : failure->flags) parts.push_back(flag.message);
  return fmt::format("{}", fmt::join(parts, "; "));
}

bool memory_was_taken(const schema::TrialOutcome& outcome) {
  const auto* failure = out_of_memory(outcome);
  if (failure == nullptr || !failure->gpu) return false;
  std::int64_t held = 0;
  for (const auto& one : others(*failure->gpu)) held += one.memory_bytes.value_or(0);
  return held >= kNotableBytes;
}

}  // namespace ridgeline::analysis
