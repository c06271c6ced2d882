// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/node_nesting.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "trace/messages.hpp"

namespace ridgeline::trace {

NodeNesting::NodeNesting(const Nodes& nodes)
    : parent(nodes.size(), kNowhere), has_parts(nodes.size()), own_ns(nodes.duration_ns) {
  std::vector<Place> order(nodes.size());
  std::iota(order.begin(), order.end(), Place{0});
  const auto before = [&](Place a, Place b) {
    if (nodes.lane[a] != nodes.lane[b]) return nodes.lane[a] < nodes.lane[b];
    if (nodes.start_ns[a] != nodes.start_ns[b]) return nodes.start_ns[a] < nodes.start_ns[b];
    if (nodes.duration_ns[a] != nodes.duration_ns[b]) return nodes.duration_ns[a] > nodes.duration_ns[b];
    return a > b;  // a node is written when it ends, behind its parts
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
  const auto end_of = [&](Place node) { return nodes.start_ns[node] + nodes.duration_ns[node]; };
  std::vector<Place> open;  // of one thread, the innermost last
  for (const auto node : order) {
    while (!open.empty() &&
           (nodes.lane[open.back()] != nodes.lane[node] || end_of(open.back()) <= nodes.start_ns[node]))
      open.pop_back();
    // A node of less than a microsecond is before one that begins in the same, rather than a part of it.
    auto around = open.rbegin();
    if (nodes.duration_ns[node] == 0)
      while (around != open.rend() && nodes.start_ns[*around] == nodes.start_ns[node]) ++around;
    if (around != open.rend()) {
      parent[node] = *around;
      has_parts[*around] = true;
      // Times are whole microseconds: a part may seem to outlast its node by one.
      own_ns[*around] -= std::min(end_of(node), end_of(*around)) - nodes.start_ns[node];
    }
    open.push_back(node);
  }
}

namespace {

/// Whether nodes of several threads ran at the same time.
bool run_beside(const Nodes& nodes) {
  std::vector<Place> order(nodes.size());
  std::iota(order.begin(), order.end(), Place{0});
  std::stable_sort(order.begin(), order.end(), [&](Place a, Place b) { return nodes.start_ns[a] < nodes.start_ns[b]; });
  std::map<LaneId, std::int64_t> ends;
  for (const auto node : order) {
    for (const auto& [lane, end] : ends)
      if (lane != nodes.lane[node] && end > nodes.start_ns[node]) return true;
    auto& end = ends.try_emplace(nodes.lane[node], nodes.start_ns[node]).first->second;
    end = std::max(end, nodes.start_ns[node] + nodes.duration_ns[node]);
  }
  return false;
}

}  // namespace

std::vector<schema::Message> nesting_notes(const Trace& trace) {
  std::vector<schema::Message> out;
  const auto& nodes = trace.nodes;
  const NodeNesting nesting(nodes);
  std::set<std::string_view> outer;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nesting.has_parts[i]) outer.insert(trace.strings.text(nodes.operation[i]));
  if (!outer.empty()) out.push_back(messages::nodes_within({outer.begin(), outer.end()}));
  if (run_beside(nodes)) out.push_back(messages::nodes_beside());
  return out;
}

}  // namespace ridgeline::trace
