// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/unusual_runs.hpp"

#include <algorithm>
#include <cstdint>

#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kLeastRuns = 3;  // of two nobody knows which is the usual one
constexpr std::int64_t kSlowRun = 2;   // medians
constexpr double kMoreWork = 1.1;      // medians

std::int64_t median_of(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<bool> find_unusual_runs(const Trace& trace, const Steps& steps, const std::vector<Place>& step_of_node) {
  const auto& nodes = trace.nodes;
  const auto count = steps.steps.size();
  std::vector<bool> out(count);
  if (nodes.size() == 0 || trace.kernels.size() + trace.copies.size() > 0 || count < kLeastRuns) return out;
  std::vector<std::int64_t> durations;
  for (const auto& step : steps.steps) durations.push_back(step.end_ns - step.start_ns);
  std::vector<std::int64_t> calls(count);
  std::vector<std::int64_t> bytes(count);
  std::vector<std::int64_t> flops(count);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto step = step_of_node[i];
    if (step == kNowhere) continue;
    ++calls[step];
    bytes[step] += std::max<std::int64_t>(0, nodes.bytes(i));
    flops[step] += std::max<std::int64_t>(0, nodes.flops[i]);
  }
  std::vector<bool> has_more_work(count);
  for (const auto* work : {&calls, &bytes, &flops}) {
    const auto most = kMoreWork * static_cast<double>(median_of(*work));
    for (std::size_t step = 0; step < count; ++step)
      has_more_work[step] = has_more_work[step] || static_cast<double>((*work)[step]) > most;
  }
  const auto usual = median_of(durations);
  for (std::size_t step = 0; step < count; ++step)
    out[step] = durations[step] / kSlowRun > usual && !has_more_work[step];
  return out;
}

schema::Message unusual_runs_note(const Steps& steps, const std::vector<bool>& unusual) {
  std::int64_t count = 0;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < unusual.size(); ++i) {
    if (!unusual[i]) continue;
    ++count;
    longest = std::max(longest, steps.steps[i].end_ns - steps.steps[i].start_ns);
  }
  if (count == 0) return {};
  return messages::unusual_runs({.count = count, .all = std::ssize(unusual), .longest = static_cast<double>(longest)});
}

}  // namespace ridgeline::trace
