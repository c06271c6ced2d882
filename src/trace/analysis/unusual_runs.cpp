// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/unusual_runs.hpp"

#include <algorithm>
#include <cstdint>

namespace ridgeline::trace {
namespace {

constexpr std::size_t kLeastRuns = 3;  // of two nobody knows which is the usual one
constexpr std::int64_t kSlowRun = 2;   // medians
constexpr double kMoreWork = 1.1;      // medians

constexpr double kMostRuns = 0.4;  // of all; as many are no exception

std::int64_t median_of(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<bool> find_slow_runs(const Steps& steps) {
  std::vector<bool> out(steps.steps.size());
  if (out.size() < kLeastRuns) return out;
  std::vector<std::int64_t> durations;
  for (const auto& step : steps.steps) durations.push_back(step.end_ns - step.start_ns);
  const auto usual = median_of(durations);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = durations[i] / kSlowRun > usual;
  return out;
}

std::vector<bool> find_unusual_runs(const Trace& trace, const Steps& steps, const std::vector<Place>& step_of_node) {
  const auto& nodes = trace.nodes;
  const auto count = steps.steps.size();
  if (nodes.size() == 0 || trace.kernels.size() + trace.copies.size() > 0 || count < kLeastRuns)
    return std::vector<bool>(count);
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
  auto out = find_slow_runs(steps);
  for (std::size_t step = 0; step < count; ++step) out[step] = out[step] && !has_more_work[step];
  if (static_cast<double>(std::count(out.begin(), out.end(), true)) >= kMostRuns * static_cast<double>(count))
    out.assign(count, false);
  return out;
}

}  // namespace ridgeline::trace
