// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/missing.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "trace/analysis/first_calls.hpp"
#include "trace/analysis/places.hpp"
#include "trace/analysis/program_place.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

/// Of a snapshot.
std::int64_t allocations_without_place(const Allocations& all) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    count += all.kind[i] == AllocationKind::allocated && all.place[i] == 0 ? 1 : 0;
  return count;
}

constexpr double kLeastUnrecorded = 0.03;  // of the time, before it is worth a word

/// That the host's events do not say what GPUs wait for; empty where that is little.
schema::Message missing_host_events(const AnalysedTrace& analysed) {
  std::int64_t sum_ns = 0;
  std::int64_t span_ns = 0;
  Places places;
  for (const auto& gap : analysed.gaps) {
    if (gap.cause != schema::IdleCause::host_unrecorded) continue;
    sum_ns += gap.duration_ns();
    if (const auto place = place_of_gap(analysed, gap); !place.empty()) places.add(place, gap.duration_ns());
  }
  for (const auto& [device, time] : analysed.observed) span_ns += time.span_ns();
  const auto share = static_cast<double>(sum_ns) / static_cast<double>(std::max<std::int64_t>(1, span_ns));
  if (share < kLeastUnrecorded) return {};
  const auto most = places.largest(1);
  const bool is_most = !most.empty() && most.front().amount * 2 > sum_ns;
  auto place = is_most ? most.front().place : std::string();
  if (analysed.trace.of_recorder)
    return messages::no_host_events_recorded(
        {.time = static_cast<double>(sum_ns), .share = share, .place = std::move(place)});
  return messages::no_host_events({.time = static_cast<double>(sum_ns), .share = share, .place = std::move(place)});
}

/// That of old releases of torch.autograd.profiler, which is not read.
bool knows_gpu_work(const Trace& trace) {
  return std::any_of(trace.notes.begin(), trace.notes.end(),
                     [](const auto& note) { return note.code() == messages::autograd_times(0).code(); });
}

}  // namespace

std::vector<schema::Message> missing_in(const AnalysedTrace& analysed) {
  const auto& trace = analysed.trace;
  std::vector<schema::Message> out;
  if (trace.nodes.size() > 0 && analysed.steps.steps.empty()) out.push_back(messages::no_whole_run());
  if (trace.kernels.size() == 0) {
    const bool has_gpu_memory = std::any_of(trace.allocations.device.begin(), trace.allocations.device.end(),
                                            [](auto gpu) { return gpu >= 0; });
    if (has_gpu_memory && trace.ranges.size() > 0)
      out.push_back(messages::no_kernels());
    else if (trace.is_of_host() && trace.ranges.size() > 0)
      out.push_back(knows_gpu_work(trace) ? messages::gpu_work_by_operation()
                    : trace.of_recorder   ? messages::no_work_recorded()
                                          : messages::no_work_of_gpu());
    else if (const auto count = allocations_without_place(trace.allocations); count > 0)
      out.push_back(messages::no_places(count));
    if (has_gpu_memory || !trace.is_of_host() || trace.ranges.size() == 0) return out;
  }
  bool has_modules = false;
  bool has_operations = false;
  bool has_python = false;
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    has_python = has_python || trace.ranges.kind[i] == RangeKind::python;
    has_operations = has_operations || trace.ranges.kind[i] == RangeKind::operation;
    has_modules = has_modules || (analysed.attribution.opens_row[i] && trace.ranges.kind[i] != RangeKind::operation);
  }
  if (trace.ranges.size() == 0 && trace.nodes.size() == 0)
    out.push_back(trace.of_recorder ? messages::no_ranges_recorded() : messages::no_ranges());
  else if (!has_python && has_operations && !trace.of_recorder)
    out.push_back(has_modules ? messages::no_python_lines() : messages::no_modules());
  if (trace.calls.size() == 0 && trace.nodes.size() > 0)
    out.push_back(messages::no_calls_around_nodes());
  else if (trace.nodes.size() > 0 && !has_launches(trace.calls))
    out.push_back(messages::no_launches());
  else if (trace.calls.size() == 0 && trace.kernels.size() > 0)
    out.push_back(trace.of_recorder ? messages::no_calls_recorded() : messages::no_calls());
  if (analysed.steps.steps.empty() && trace.nodes.size() == 0)
    out.push_back(trace.of_recorder ? messages::no_steps_recorded() : messages::no_steps());
  if (auto line = missing_host_events(analysed); !line.empty()) out.push_back(std::move(line));
  if (auto line = missing_warm_up(analysed); !line.empty()) out.push_back(std::move(line));
  return out;
}

}  // namespace ridgeline::trace
