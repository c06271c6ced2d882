// SPDX-License-Identifier: Apache-2.0
#include "trace/import/bound_values.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <set>
#include <utility>

#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr auto kMostSpan = std::int64_t{1} << 61;       // ns, sum over all GPUs
constexpr auto kMostDurations = std::int64_t{1} << 60;  // ns
constexpr auto kMostBytes = std::int64_t{1} << 58;      // of a column: four of them are added
constexpr auto kMostFlops = std::int64_t{1} << 61;
constexpr auto kMostAllocated = std::int64_t{1} << 61;  // bytes, sum over all that is allocated and freed
constexpr std::int32_t kMostDevices = 1024;

std::array<Spans*, 8> all_spans(Trace& trace) {
  return {&trace.kernels, &trace.copies, &trace.sets,  &trace.syncs,
          &trace.calls,   &trace.ranges, &trace.nodes, &trace.counted};
}

std::int64_t saturated_end(std::int64_t start, std::int64_t duration) {
  return start > std::numeric_limits<std::int64_t>::max() - duration ? std::numeric_limits<std::int64_t>::max()
                                                                     : start + duration;
}

/// At least 1.
std::int64_t gpus_of(const Trace& trace) {
  std::set<std::pair<std::int64_t, std::int32_t>> gpus;
  for (const auto& lane : trace.gpu_lanes) gpus.emplace(lane.process, lane.device);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(gpus.size()));
}

/// Where the events are, whatever a few of them say.
std::int64_t middle_start(Trace& trace, std::int64_t reach) {
  std::vector<std::int64_t> starts;
  for (const auto* spans : all_spans(trace))
    starts.insert(starts.end(), spans->start_ns.begin(), spans->start_ns.end());
  starts.insert(starts.end(), trace.allocations.time_ns.begin(), trace.allocations.time_ns.end());
  const auto middle = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2);
  std::nth_element(starts.begin(), middle, starts.end());
  // Its surroundings fit into 64 bits, too.
  return std::clamp(*middle, std::numeric_limits<std::int64_t>::min() + reach,
                    std::numeric_limits<std::int64_t>::max() - reach);
}

std::size_t bound_times(Trace& trace) {
  auto first = std::numeric_limits<std::int64_t>::max();
  auto last = std::numeric_limits<std::int64_t>::min();
  bool overflows = false;
  for (const auto* spans : all_spans(trace))
    for (std::size_t i = 0; i < spans->size(); ++i) {
      const auto end = saturated_end(spans->start_ns[i], spans->duration_ns[i]);
      overflows |= end == std::numeric_limits<std::int64_t>::max();
      first = std::min(first, spans->start_ns[i]);
      last = std::max(last, end);
    }
  for (const auto time : trace.allocations.time_ns) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
  const auto most = kMostSpan / gpus_of(trace);
  const auto span = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  if (first > last || (!overflows && span <= static_cast<std::uint64_t>(most))) return 0;
  const auto reach = most / 4;
  const auto middle = middle_start(trace, reach);
  std::size_t moved = 0;
  for (auto* spans : all_spans(trace))
    for (std::size_t i = 0; i < spans->size(); ++i) {
      auto& start = spans->start_ns[i];
      auto& duration = spans->duration_ns[i];
      const auto end = saturated_end(start, duration);
      const auto from = std::clamp(start, middle - reach, middle + reach);
      const auto to = std::clamp(end, from, middle + reach);
      moved += from != start || to != end ? 1U : 0U;
      start = from;
      duration = to - from;
    }
  for (auto& time : trace.allocations.time_ns) {
    const auto near = std::clamp(time, middle - reach, middle + reach);
    moved += near != time ? 1U : 0U;
    time = near;
  }
  return moved;
}

/// Values whose sum goes beyond `most` become `instead`; so do negative ones.
std::size_t bound_sum(std::vector<std::int64_t>& column, std::int64_t& sum, std::int64_t most, std::int64_t instead) {
  std::size_t bounded = 0;
  for (auto& value : column) {
    if (value == instead) continue;
    if (value < 0 || value > most - sum) {
      value = instead;
      ++bounded;
    } else {
      sum += value;
    }
  }
  return bounded;
}

/// Sums are those of sizes whatever their sign: a negative one is freed.
std::size_t bound_allocations(Allocations& all) {
  std::size_t bounded = 0;
  std::int64_t sum = 0;
  for (auto& bytes : all.bytes) {
    const auto left = kMostAllocated - sum;
    if (bytes < -left || bytes > left) {
      bytes = 0;
      ++bounded;
    } else {
      sum += std::abs(bytes);
    }
  }
  for (auto* column : {&all.allocated_bytes, &all.reserved_bytes})
    for (auto& total : *column) {
      const auto near = std::clamp<std::int64_t>(total, 0, kMostBytes);
      bounded += near != total ? 1U : 0U;
      total = near;
    }
  for (auto& device : all.device)
    if (device < -1 || device >= kMostDevices) {
      device = -1;
      ++bounded;
    }
  return bounded;
}

}  // namespace

void bound_values(Trace& trace) {
  if (const auto moved = bound_times(trace); moved > 0)
    trace.notes.push_back(messages::moved_events(static_cast<std::int64_t>(moved)));
  std::size_t bounded = 0;
  std::int64_t durations = 0;
  for (auto* spans : all_spans(trace)) bounded += bound_sum(spans->duration_ns, durations, kMostDurations, 0);
  auto& nodes = trace.nodes;
  auto& counted = trace.counted;
  for (auto* column : {&trace.copies.bytes, &trace.sets.bytes, &nodes.activation_bytes, &nodes.parameter_bytes,
                       &nodes.output_bytes, &counted.dram_read_bytes, &counted.dram_write_bytes, &counted.l2_bytes}) {
    std::int64_t bytes = 0;
    bounded += bound_sum(*column, bytes, kMostBytes, -1);
  }
  std::int64_t flops = 0;
  bounded += bound_sum(nodes.flops, flops, kMostFlops, -1);
  bounded += bound_allocations(trace.allocations);
  if (bounded > 0) trace.notes.push_back(messages::impossible_values(static_cast<std::int64_t>(bounded)));
}

}  // namespace ridgeline::trace
