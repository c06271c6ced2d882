// SPDX-License-Identifier: Apache-2.0
#include "trace/import/shifted_graph_ends.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trace/import/left_out.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kFewestLaunches = 3;        // of which the median is one that is right
constexpr std::size_t kFewestKernels = 4;         // that agree on how far they were moved
constexpr std::int64_t kSmallestShift = 100'000;  // ns
constexpr std::int64_t kLargestSpread = 10;       // the kernels differ by at most such a part of the shift

using Rows = std::vector<std::size_t>;
using Key = std::pair<std::int64_t, std::uint64_t>;  // process, and node or correlation

std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// By how much the ends of a launch's kernels were moved. `usual`: how long each takes, 0 if that is not known.
std::optional<std::int64_t> shift_of(const Kernels& kernels, const Rows& launch,
                                     const std::vector<std::int64_t>& usual) {
  std::vector<std::int64_t> excess;
  for (const auto row : launch)
    if (usual[row] > 0) excess.push_back(kernels.duration_ns[row] - usual[row]);
  if (excess.size() < kFewestKernels) return std::nullopt;
  const auto [least, most] = std::minmax_element(excess.begin(), excess.end());
  if (*least < kSmallestShift || *most - *least > *least / kLargestSpread) return std::nullopt;
  return median(std::move(excess));
}

}  // namespace

void correct_shifted_graph_ends(Trace& trace) {
  auto& kernels = trace.kernels;
  // Ends that are late overlap what follows on the stream.
  const auto disordered = disordered_lanes(kernels, trace.gpu_lanes.size());
  std::map<Key, Rows> nodes;
  std::map<Key, Rows> launches;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels.graph_node[i] == 0 || !disordered[kernels.lane[i]]) continue;
    const auto process = trace.gpu_lanes[kernels.lane[i]].process;
    nodes[{process, kernels.graph_node[i]}].push_back(i);
    launches[{process, static_cast<std::uint64_t>(kernels.correlation[i])}].push_back(i);
  }
  if (launches.size() < kFewestLaunches) return;
  std::vector<std::int64_t> usual(kernels.size());
  for (const auto& [node, rows] : nodes) {
    if (rows.size() < kFewestLaunches) continue;
    std::vector<std::int64_t> durations;
    for (const auto row : rows) durations.push_back(kernels.duration_ns[row]);
    const auto middle = median(std::move(durations));
    for (const auto row : rows) usual[row] = middle;
  }
  std::int64_t count = 0;
  std::int64_t largest = 0;
  for (const auto& [launch, rows] : launches) {
    const auto shift = shift_of(kernels, rows, usual);
    if (!shift) continue;
    for (const auto row : rows) kernels.duration_ns[row] = std::max<std::int64_t>(0, kernels.duration_ns[row] - *shift);
    count += std::ssize(rows);
    largest = std::max(largest, *shift);
  }
  if (count > 0)
    trace.notes.push_back(messages::shifted_graph_ends({.count = count, .largest = static_cast<double>(largest)}));
}

}  // namespace ridgeline::trace
