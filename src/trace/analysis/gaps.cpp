// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/gaps.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "trace/analysis/clock_fit.hpp"

namespace ridgeline::trace {
namespace {

using schema::IdleCause;

struct QueuedWork {
  std::int64_t start_ns;
  std::int64_t end_ns;
  Place call;
  NameId kernel;  ///< 0 of a copy or a set
  bool is_pageable = false;
};

class GapFinder {
 public:
  GapFinder(const Trace& trace, const LaunchIndex& launches, const Nesting& nesting, const Steps& steps)
      : trace_(trace), nesting_(nesting), pauses_(recording_pauses(trace)), causes_(trace, launches, nesting, steps) {
    const auto add = [&](const Spans& spans, bool kernels) {
      const auto calls = launches.calls_of(spans);
      for (std::size_t i = 0; i < spans.size(); ++i) {
        const auto& lane = trace.gpu_lanes[spans.lane[i]];
        by_device_[{lane.process, lane.device}].push_back({spans.start_ns[i], spans.start_ns[i] + spans.duration_ns[i],
                                                           calls[i], kernels ? spans.name[i] : NameId{0},
                                                           !kernels && is_pageable(spans.name[i])});
        if (kernels && calls[i] != kNowhere) see_launch(spans.name[i], calls[i]);
      }
    };
    add(trace.kernels, true);
    add(trace.copies, false);
    add(trace.sets, false);
  }

  std::vector<Gap> find(const std::map<ProcessDevice, ObservedTime>& observed) {
    for (auto& [where, work] : by_device_) {
      std::sort(work.begin(), work.end(), [](const auto& a, const auto& b) {
        return std::tie(a.start_ns, a.end_ns) < std::tie(b.start_ns, b.end_ns);
      });
      const auto time = observed.find(where);
      const bool known = time != observed.end();
      auto reached = known ? time->second.start_ns : work.front().start_ns;
      auto before = work.front().call;  // launched what the gap is behind
      auto place = GapPlace::before_work;
      for (const auto& one : work) {
        if (one.start_ns > reached) add_recorded(where, reached, one, before, place);
        if (one.end_ns >= reached) before = one.call;
        reached = std::max(reached, one.end_ns);
        place = GapPlace::between_work;
      }
      if (!known || time->second.end_ns <= reached) continue;
      for (const auto& [from, to] : without({reached, time->second.end_ns}, pauses_[where]))
        add_without_work(where, {from, to}, time->second.last_thread,
                         to == time->second.end_ns ? GapPlace::behind_work : GapPlace::between_work);
    }
    settle();
    return std::move(gaps_);
  }

 private:
  [[nodiscard]] bool is_pageable(NameId copy) const {
    return trace_.strings.text(copy).find("ageable") != std::string_view::npos;
  }

  void see_launch(NameId kernel, Place call) {
    auto& first = first_launch_.try_emplace(kernel, call).first->second;
    if (trace_.calls.start_ns[call] < trace_.calls.start_ns[first]) first = call;
  }

  /// Without the times in which nothing was recorded.
  void add_recorded(const ProcessDevice& where, std::int64_t from, const QueuedWork& work, Place before,
                    GapPlace place) {
    for (const auto& part : without({from, work.start_ns}, pauses_[where])) {
      const bool is_first = part.start_ns == from;
      if (part.end_ns == work.start_ns)
        add(where, part.start_ns, work, is_first ? before : kNowhere, is_first ? place : GapPlace::between_work);
      else if (before != kNowhere)
        add_without_work(where, part, trace_.calls.lane[before], GapPlace::between_work);
      else
        gaps_.push_back({where.first, where.second, part.start_ns, part.end_ns});
    }
  }

  void add(const ProcessDevice& where, std::int64_t from, const QueuedWork& work, Place before, GapPlace place) {
    gaps_.push_back({where.first, where.second, from, work.start_ns, IdleCause::unknown, work.call, before, {}, place});
    if (work.call == kNowhere || is_slow_launch(gaps_.back(), work)) return;
    const auto launch = trace_.calls.start_ns[work.call];
    const auto lane = trace_.calls.lane[work.call];
    const auto waited = work.start_ns - std::max(from, launch + trace_.calls.duration_ns[work.call]);
    if (work.start_ns < launch - kClockToleranceNs) return;
    // A launch whose work is not in the file may have filled it.
    if (before != kNowhere && causes_.lost_between(lane, trace_.calls.start_ns[before], launch)) return;
    if (launch <= from || (waited > kLongestTurnNs && waited * 2 > gaps_.back().duration_ns()))
      gaps_.back().cause = IdleCause::queue;
    else
      questions_.push_back({gaps_.size() - 1,
                            {from, launch, lane},
                            before == kNowhere ? lane : trace_.calls.lane[before],
                            is_first_launch(work)});
  }

  [[nodiscard]] bool is_first_launch(const QueuedWork& work) const {
    const auto first = first_launch_.find(work.kernel);
    return work.kernel != 0 && first != first_launch_.end() && first->second == work.call;
  }

  /// The launch itself takes the time: of a kernel's first one, loading its code.
  [[nodiscard]] bool is_slow_launch(Gap& gap, const QueuedWork& work) const {
    const auto start = trace_.calls.start_ns[work.call];
    const auto end = start + trace_.calls.duration_ns[work.call];
    const auto inside = std::min(end, gap.end_ns) - std::max(start, gap.start_ns);
    if (inside < kLongestLaunchNs || inside * 2 <= gap.duration_ns()) return false;
    gap.before_first_launch = is_first_launch(work);
    const bool is_loading = gap.before_first_launch || causes_.is_loading(trace_.calls.lane[work.call], start, end);
    gap.cause = is_loading         ? IdleCause::compilation
                : work.is_pageable ? IdleCause::pageable_copy
                                   : IdleCause::host_work;
    gap.blocker.call = work.call;
    return true;
  }

  void add_without_work(const ProcessDevice& where, const TimeSpan& part, LaneId thread, GapPlace place) {
    gaps_.push_back(
        {where.first, where.second, part.start_ns, part.end_ns, IdleCause::unknown, kNowhere, kNowhere, {}, place});
    if (has_launches(trace_.calls))
      questions_.push_back({gaps_.size() - 1, {part.start_ns, part.end_ns, thread, false}, thread});
  }

  /// What the thread of a gap did, and else the thread that launched the work before.
  struct Question {
    std::size_t gap = 0;
    Quiet quiet;
    LaneId other_lane = 0;
    bool is_first_launch = false;
  };

  /// Of a framework's operation whose kernel is launched for the first time: libraries make their handles and load code
  /// before that, also without a call that is recorded.
  [[nodiscard]] bool prepares_kernel(const IdleCauses::Why& why, const Quiet& quiet) const {
    if (quiet.duration_ns() < kLongestLaunchNs) return false;
    const auto range = why.blocker.range;
    return why.cause == IdleCause::launch || (why.cause == IdleCause::host_work && range != kNowhere &&
                                              trace_.ranges.kind[range] == RangeKind::operation);
  }

  void settle() {
    std::vector<Moment> moments;
    for (const auto& [gap, quiet, other_lane, is_first_launch] : questions_)
      for (const auto lane : {quiet.lane, other_lane}) {
        const auto behind = causes_.behind_waits({quiet.from, quiet.to, lane});
        moments.push_back({lane, behind.from + behind.duration_ns() / 2});
      }
    const auto inside = ranges_at(trace_, nesting_, moments);
    for (std::size_t i = 0; i < questions_.size(); ++i) {
      auto [gap, quiet, other_lane, is_first_launch] = questions_[i];
      auto why = causes_.of(quiet, inside[2 * i]);
      if (why.cause == IdleCause::host_unrecorded && other_lane != quiet.lane) {
        quiet.lane = other_lane;
        if (const auto other = causes_.of(quiet, inside[2 * i + 1]); other.cause != IdleCause::launch) why = other;
      }
      if (is_first_launch && prepares_kernel(why, quiet)) {
        why.cause = IdleCause::compilation;
        gaps_[gap].before_first_launch = true;
        if (why.blocker.range == kNowhere) why.blocker.call = gaps_[gap].call;
      }
      gaps_[gap].cause = why.cause;
      gaps_[gap].blocker = why.blocker;
    }
  }

  const Trace& trace_;
  const Nesting& nesting_;
  std::map<ProcessDevice, std::vector<TimeSpan>> pauses_;
  IdleCauses causes_;
  std::map<ProcessDevice, std::vector<QueuedWork>> by_device_;
  std::map<NameId, Place> first_launch_;  ///< of a kernel
  std::vector<Gap> gaps_;
  std::vector<Question> questions_;
};

}  // namespace

std::vector<Gap> find_gaps(const Trace& trace, const LaunchIndex& launches, const Nesting& nesting, const Steps& steps,
                           const std::map<ProcessDevice, ObservedTime>& observed) {
  return GapFinder(trace, launches, nesting, steps).find(observed);
}

}  // namespace ridgeline::trace
