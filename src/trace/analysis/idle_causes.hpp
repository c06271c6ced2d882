// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/launch_index.hpp"
#include "trace/analysis/nesting.hpp"
#include "trace/analysis/steps.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Of a call of CUDA or HIP: its thread goes on once the GPU has done what was launched.
[[nodiscard]] bool waits_for_gpu(std::string_view call);

/// What kept the launching thread from launching; neither: nothing that is known.
struct Blocker {
  Place call = kNowhere;   ///< into Trace::calls
  Place range = kNowhere;  ///< into Trace::ranges
  std::int64_t ns = 0;     ///< that it took, where other things took the rest; 0: all of it
};

// Python, a framework and the driver take microseconds for a launch. A thread that launches nothing for so long does
// something else.
inline constexpr std::int64_t kLongestLaunchNs = 1'000'000;

// A GPU takes microseconds from a launch, or from one piece of queued work, to the next. What takes longer waits for
// something on the GPU.
inline constexpr std::int64_t kLongestTurnNs = 20'000;

/// Disjoint spans of a thread in which it could not launch, of one cause.
class BlockedTime {
 public:
  void add(std::int64_t start_ns, std::int64_t end_ns, const Blocker& by) { spans_.push_back({start_ns, end_ns, by}); }
  /// What lies within another is the other's doing: the outermost stays.
  void close();

  struct Overlap {
    std::int64_t sum_ns = 0;
    std::int64_t end_ns = 0;  ///< of the last
    bool any = false;         ///< a span without a length counts
    Blocker longest;          ///< that has most of it
  };
  [[nodiscard]] Overlap overlap(std::int64_t from, std::int64_t to) const;

 private:
  struct Span {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    Blocker by;
  };
  std::vector<Span> spans_;
};

/// When each thread launched work of a GPU.
class LaunchTimes {
 public:
  LaunchTimes(const Trace& trace, const LaunchIndex& launches);
  /// How long the thread usually takes from a launch to the next, the median; 0: it made none or one.
  [[nodiscard]] std::int64_t usual_ns(LaneId lane) const { return usual_[lane]; }
  /// How long its calls that launch take, the median; 0: it made none.
  [[nodiscard]] std::int64_t call_ns(LaneId lane) const { return call_[lane]; }
  [[nodiscard]] std::int64_t count(LaneId lane, std::int64_t from, std::int64_t to) const;
  /// Launches whose work is not in the trace.
  [[nodiscard]] std::int64_t count_lost(LaneId lane, std::int64_t from, std::int64_t to) const;

 private:
  std::vector<std::vector<std::int64_t>> starts_;
  std::vector<std::vector<std::int64_t>> lost_;
  std::vector<std::int64_t> usual_;
  std::vector<std::int64_t> call_;
};

/// A time in which a thread launched nothing.
struct Quiet {
  std::int64_t from = 0;
  std::int64_t to = 0;
  LaneId lane = 0;
  bool ends_in_launch = true;
  [[nodiscard]] std::int64_t duration_ns() const noexcept { return to - from; }
};

/// Why threads launched nothing for a while.
class IdleCauses {
 public:
  IdleCauses(const Trace& trace, const LaunchIndex& launches, const Nesting& nesting, const Steps& steps);

  struct Why {
    schema::IdleCause cause = schema::IdleCause::unknown;
    Blocker blocker;
  };
  /// What is behind the last wait for the GPU, if that is most of the time; else all of it.
  [[nodiscard]] Quiet behind_waits(const Quiet& quiet) const;
  /// `inside`: the innermost range of that thread in the middle of behind_waits().
  [[nodiscard]] Why of(const Quiet& quiet, Place inside) const;
  /// Whether code was loaded for most of that time.
  [[nodiscard]] bool is_loading(LaneId lane, std::int64_t from, std::int64_t to) const;
  /// Whether the thread launched something within that time whose work is not in the trace.
  [[nodiscard]] bool lost_between(LaneId lane, std::int64_t from, std::int64_t to) const {
    return launch_times_.count_lost(lane, from, to) > 0;
  }

 private:
  [[nodiscard]] Blocker longest_within(const Quiet& quiet) const;
  [[nodiscard]] Place filler_of(const Quiet& quiet, Place range) const;
  [[nodiscard]] bool is_step(Place range) const;
  [[nodiscard]] bool is_on_its_way(const Quiet& quiet, Place range) const;
  [[nodiscard]] bool is_work_of_its_own(const Quiet& quiet, Place range) const;

  const Trace& trace_;
  const Nesting& nesting_;
  const Steps& steps_;
  LaunchTimes launch_times_;
  std::vector<std::map<schema::IdleCause, BlockedTime>> threads_;
  std::map<schema::IdleCause, BlockedTime> profiler_;  ///< of all threads
};

}  // namespace ridgeline::trace
