// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/run_notes.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

struct Runs {
  std::int64_t count = 0;
  std::int64_t longest_ns = 0;
};

Runs count_runs(const Steps& steps, const std::vector<bool>& which) {
  Runs out;
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (!which[i]) continue;
    ++out.count;
    out.longest_ns = std::max(out.longest_ns, steps.steps[i].end_ns - steps.steps[i].start_ns);
  }
  return out;
}

/// Nodes that some of the runs in the tables lack; of the longest of them, how many have it.
schema::Message nodes_of_some_runs(const AnalysedTrace& analysed) {
  const auto& nodes = analysed.trace.nodes;
  struct Node {
    std::set<Place> runs;
    std::int64_t sum_ns = 0;
  };
  std::map<NameId, Node> by_name;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (analysed.step_of_node[i] == kNowhere || analysed.is_unusual(i)) continue;
    auto& node = by_name[nodes.name[i]];
    node.runs.insert(analysed.step_of_node[i]);
    node.sum_ns += analysed.nodes.own_ns[i];
  }
  const auto runs = std::count(analysed.unusual_runs.begin(), analysed.unusual_runs.end(), false);
  std::int64_t count = 0;
  const std::pair<const NameId, Node>* longest = nullptr;
  for (const auto& one : by_name) {
    if (std::ssize(one.second.runs) == runs) continue;
    ++count;
    if (longest == nullptr || one.second.sum_ns > longest->second.sum_ns) longest = &one;
  }
  if (longest == nullptr) return {};
  return messages::nodes_of_some_runs({.count = count,
                                       .name = std::string(analysed.trace.strings.text(longest->first)),
                                       .runs = std::ssize(longest->second.runs),
                                       .all = runs,
                                       .is_mean = analysed.trace.kernels.size() == 0});
}

}  // namespace

std::vector<schema::Message> run_notes(const AnalysedTrace& analysed) {
  std::vector<schema::Message> out;
  if (analysed.trace.nodes.size() == 0) return out;
  const auto& steps = analysed.steps;
  const auto all = std::ssize(steps.steps);
  const auto left_out = count_runs(steps, analysed.unusual_runs);
  if (left_out.count > 0)
    out.push_back(messages::unusual_runs(
        {.count = left_out.count, .all = all, .longest = static_cast<double>(left_out.longest_ns)}));
  auto slow = find_slow_runs(steps);
  for (std::size_t i = 0; i < slow.size(); ++i) slow[i] = slow[i] && !analysed.unusual_runs[i];
  if (const auto kept = count_runs(steps, slow); kept.count > 0)
    out.push_back(
        messages::slow_runs({.count = kept.count, .all = all, .longest = static_cast<double>(kept.longest_ns)}));
  if (auto note = nodes_of_some_runs(analysed); !note.empty()) out.push_back(std::move(note));
  return out;
}

}  // namespace ridgeline::trace
