// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/launching_nodes.hpp"

#include <utility>

#include "trace/analysis/launch_index.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kCutOff = 2000;  // ns: ONNX Runtime rounds the start and the duration of a node down

}  // namespace

std::vector<Place> nodes_of_calls(const Trace& trace) {
  const auto& nodes = trace.nodes;
  const auto& calls = trace.calls;
  if (nodes.size() == 0 || !has_launches(calls)) return {};
  std::vector<Place> out(calls.size(), kNowhere);
  const auto node_order = by_thread(nodes);
  auto next = node_order.begin();
  std::vector<Place> open;  // of the thread, the innermost last
  for (const auto call : by_thread(calls)) {
    const auto lane = calls.lane[call];
    const auto time = calls.start_ns[call];
    for (; next != node_order.end() && std::pair(nodes.lane[*next], nodes.start_ns[*next]) <= std::pair(lane, time);
         ++next)
      open.push_back(*next);
    while (!open.empty() && (nodes.lane[open.back()] != lane ||
                             nodes.start_ns[open.back()] + nodes.duration_ns[open.back()] + kCutOff <= time))
      open.pop_back();
    if (!open.empty()) out[call] = open.back();
  }
  return out;
}

}  // namespace ridgeline::trace
