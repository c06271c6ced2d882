// SPDX-License-Identifier: Apache-2.0
#include "trace/import/begin_end.hpp"

#include <algorithm>

namespace ridgeline::trace {

std::size_t BeginEnd::begin(const Thread& thread, std::int64_t time_ns, NameId name) {
  threads_[thread].push_back({time_ns, name, begun_});
  return begun_++;
}

void BeginEnd::end(const Thread& thread, std::int64_t time_ns, NameId name) {
  threads_[thread].push_back({time_ns, name, kEnd});
}

/// How many have no other one, or end before they begin.
std::size_t BeginEnd::pair_up(const std::vector<Edge>& edges, std::vector<Pair>& out) {
  std::vector<const Edge*> open;
  std::size_t unpaired = 0;
  for (const auto& edge : edges) {
    if (edge.number != kEnd) {
      open.push_back(&edge);
      continue;
    }
    const auto named = std::find_if(open.rbegin(), open.rend(),
                                    [&](const auto* one) { return edge.name == 0 || one->name == edge.name; });
    if (named == open.rend() || (*named)->time_ns > edge.time_ns) {
      ++unpaired;
      continue;
    }
    // The difference of hostile times may not fit.
    const auto length = static_cast<std::uint64_t>(edge.time_ns) - static_cast<std::uint64_t>((*named)->time_ns);
    out.push_back({(*named)->number, std::max<std::int64_t>(0, static_cast<std::int64_t>(length))});
    open.erase(std::next(named).base());
  }
  return unpaired + open.size();
}

std::vector<BeginEnd::Pair> BeginEnd::pairs() {
  std::vector<Pair> all;
  unpaired_ = 0;
  for (auto& [thread, edges] : threads_) {
    // Each with its end behind it leaves no doubt.
    bool in_pairs = true;
    for (std::size_t i = 0; i < edges.size(); ++i) in_pairs = in_pairs && (edges[i].number == kEnd) == (i % 2 == 1);
    std::vector<Pair> as_written;
    auto left = pair_up(edges, as_written);
    const auto earlier = [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; };
    if (!std::is_sorted(edges.begin(), edges.end(), earlier) && !(in_pairs && left == 0)) {
      std::stable_sort(edges.begin(), edges.end(), earlier);
      std::vector<Pair> by_time;
      if (const auto left_by_time = pair_up(edges, by_time); left_by_time <= left) {
        left = left_by_time;
        as_written = std::move(by_time);
      }
    }
    unpaired_ += left;
    all.insert(all.end(), as_written.begin(), as_written.end());
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return all;
}

}  // namespace ridgeline::trace
