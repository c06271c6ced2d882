// SPDX-License-Identifier: Apache-2.0
#include "trace/import/begin_end.hpp"

#include <algorithm>
#include <iterator>

namespace ridgeline::trace {

std::size_t BeginEnd::begin(const Thread& thread, std::int64_t time_ns, NameId name, Within within) {
  threads_[thread].push_back({time_ns, name, begun_, within});
  return begun_++;
}

void BeginEnd::end(const Thread& thread, std::int64_t time_ns, NameId name) {
  threads_[thread].push_back({time_ns, name, kEnd});
}

/// Of one thread, the innermost last: what has begun, and what could only end in the moment in which something around
/// it ended, or in which something began that it cannot hold.
class BeginEnd::Stack {
 public:
  explicit Stack(std::vector<Pair>& out) : out_(out) {}

  void begin(const Edge& edge) {
    forget_parting(edge.time_ns);
    const auto bars = [&](const Open& one) {
      return one.edge->within == edge.within &&
             (edge.within == Within::none_of_kind || (edge.within == Within::others && one.edge->name == edge.name));
    };
    const auto looked_at = open_.rbegin() + std::min<std::ptrdiff_t>(kLookedAt, std::ssize(open_));
    if (const auto found = std::find_if(open_.rbegin(), looked_at, bars); found != looked_at)
      part(std::prev(found.base()), edge.time_ns);
    open_.push_back({&edge});
  }

  void end(const Edge& edge) {
    forget_parting(edge.time_ns);
    const auto is_it = [&](const Open& one) { return edge.name == 0 || one.edge->name == edge.name; };
    if (const auto found = std::find_if(parting_.rbegin(), parting_.rend(), is_it);
        found != parting_.rend() && found->edge->time_ns <= edge.time_ns) {
      add(*found->edge, edge);
      parting_.erase(std::next(found).base());
      return;
    }
    const auto found = std::find_if(open_.rbegin(), open_.rend(), is_it);
    if (found == open_.rend() || found->edge->time_ns > edge.time_ns) {
      ++unpaired_;
      return;
    }
    const auto at = std::prev(found.base());
    if (at->edge->within == Within::one_of_name && at->of_its_name > 1) {
      unpaired_ += 2;  // its end was lost, and so was what this one ends
    } else {
      add(*at->edge, edge);
      if (at != open_.begin() && std::prev(at)->edge->name == at->edge->name) ++std::prev(at)->of_its_name;
    }
    part(open_.erase(at), edge.time_ns);
  }

  /// Without the other one, behind the last.
  [[nodiscard]] std::size_t unpaired() const { return unpaired_ + parting_.size() + open_.size(); }

 private:
  static constexpr std::ptrdiff_t kLookedAt = 64;  // of a damaged file all may be open
  struct Open {
    const Edge* edge = nullptr;
    std::size_t of_its_name = 0;  ///< ended directly within it
  };

  void add(const Edge& begun, const Edge& ended) {
    // The difference of hostile times may not fit.
    const auto length = static_cast<std::uint64_t>(ended.time_ns) - static_cast<std::uint64_t>(begun.time_ns);
    out_.push_back({begun.number, std::max<std::int64_t>(0, static_cast<std::int64_t>(length))});
  }
  void part(std::vector<Open>::iterator from, std::int64_t time_ns) {
    parted_ns_ = time_ns;
    parting_.insert(parting_.end(), from, open_.end());
    open_.erase(from, open_.end());
  }
  void forget_parting(std::int64_t time_ns) {
    if (time_ns <= parted_ns_) return;
    unpaired_ += parting_.size();
    parting_.clear();
  }

  std::vector<Pair>& out_;
  std::vector<Open> open_;
  std::vector<Open> parting_;
  std::int64_t parted_ns_ = 0;  ///< when the last of them did
  std::size_t unpaired_ = 0;
};

/// How many have no other one, or end before they begin.
std::size_t BeginEnd::pair_up(const std::vector<Edge>& edges, std::vector<Pair>& out) {
  Stack stack(out);
  for (const auto& edge : edges)
    if (edge.number == kEnd)
      stack.end(edge);
    else
      stack.begin(edge);
  return stack.unpaired();
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
