// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/gaps.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace ridgeline::trace {
namespace {

using schema::IdleCause;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// What a call of CUDA keeps a thread from launching by; launch: nothing of that kind.
IdleCause cause_of_call(std::string_view name) {
  if (contains(name, "Synchronize") || contains(name, "StreamWait") || name == "cudaMemcpy" ||
      name == "cudaMemcpyToSymbol" || name.starts_with("cuMemcpyDtoH_") || name.starts_with("cuMemcpyHtoD_"))
    return contains(name, "StreamWait") ? IdleCause::launch : IdleCause::sync;
  if (contains(name, "Malloc") || contains(name, "cudaFree") || contains(name, "cuMemFree") ||
      contains(name, "cuMemAlloc") || contains(name, "cuMemCreate") || contains(name, "cuMemMap") ||
      contains(name, "cuMemSetAccess") || contains(name, "HostAlloc"))
    return IdleCause::allocation;
  if (contains(name, "ModuleLoad") || contains(name, "LibraryLoad") || contains(name, "LinkComplete") ||
      contains(name, "cuModuleGetLoading") || contains(name, "GraphInstantiate"))
    return IdleCause::compilation;
  return IdleCause::launch;
}

IdleCause cause_of_range(RangeKind kind, std::string_view name) {
  if (kind == RangeKind::overhead)
    return contains(name, "ompil") || contains(name, "oading") ? IdleCause::compilation : IdleCause::profiler;
  if (contains(name, "DataLoader") && !contains(name, "__init__")) return IdleCause::data_loading;
  if (kind == RangeKind::python) {
    if (contains(name, "torch/utils/data/") && contains(name, "__next__")) return IdleCause::data_loading;
    if (contains(name, "torch/_dynamo/convert_frame") || contains(name, "torch/_inductor/compile"))
      return IdleCause::compilation;
    return IdleCause::launch;
  }
  // These wait for the GPU, whatever the trace says of calls.
  if (name == "aten::item" || name == "aten::_local_scalar_dense" || name == "aten::nonzero") return IdleCause::sync;
  return IdleCause::launch;
}

/// What kept a thread from launching: a call or a range, and the time until it ended.
struct BusySpan {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Blocker by;
};

/// Disjoint spans of a thread in which it could not launch, of one cause.
class Busy {
 public:
  void add(const BusySpan& span) { spans_.push_back(span); }

  /// What lies within another is the other's doing: the outermost stays.
  void close() {
    std::stable_sort(spans_.begin(), spans_.end(), [](const auto& a, const auto& b) {
      return std::pair(a.start_ns, -a.end_ns) < std::pair(b.start_ns, -b.end_ns);
    });
    std::vector<BusySpan> merged;
    for (const auto& span : spans_) {
      if (!merged.empty() && span.start_ns < merged.back().end_ns)
        merged.back().end_ns = std::max(merged.back().end_ns, span.end_ns);
      else
        merged.push_back(span);
    }
    spans_ = std::move(merged);
  }

  struct Overlap {
    std::int64_t sum_ns = 0;
    bool any = false;  ///< a span without a length counts
    Blocker longest;   ///< that has most of it
  };
  [[nodiscard]] Overlap overlap(std::int64_t from, std::int64_t to) const {
    Overlap out;
    std::int64_t most = -1;
    auto at = std::partition_point(spans_.begin(), spans_.end(), [&](const auto& span) { return span.end_ns <= from; });
    for (; at != spans_.end() && at->start_ns < to; ++at) {
      const auto ns = std::min(to, at->end_ns) - std::max(from, at->start_ns);
      out.sum_ns += ns;
      out.any = true;
      if (ns > most) {
        most = ns;
        out.longest = at->by;
      }
    }
    return out;
  }

 private:
  std::vector<BusySpan> spans_;
};

constexpr std::array kBlocking{IdleCause::data_loading, IdleCause::compilation, IdleCause::allocation,
                               IdleCause::profiler, IdleCause::sync};

class Causes {
 public:
  explicit Causes(const Trace& trace) : trace_(trace), threads_(trace.thread_lanes.size()) {
    const auto add = [&](const Spans& spans, std::size_t i, IdleCause cause, const Blocker& by) {
      if (cause != IdleCause::launch)
        threads_[spans.lane[i]][cause].add({spans.start_ns[i], spans.start_ns[i] + spans.duration_ns[i], by});
    };
    // Names come again and again; each is looked at once.
    std::map<std::pair<NameId, int>, IdleCause> known;
    const auto cached = [&](NameId name, int kind, auto find) {
      const auto [found, is_new] = known.try_emplace({name, kind}, IdleCause::launch);
      if (is_new) found->second = find(trace_.strings.text(name));
      return found->second;
    };
    for (Place i = 0; i < trace.calls.size(); ++i)
      add(trace.calls, i, cached(trace.calls.name[i], -1, cause_of_call), {.call = i});
    for (Place i = 0; i < trace.ranges.size(); ++i) {
      const auto kind = trace.ranges.kind[i];
      const auto cause = cached(trace.ranges.name[i], static_cast<int>(kind),
                                [&](std::string_view name) { return cause_of_range(kind, name); });
      add(trace.ranges, i, cause, {.range = i});
    }
    for (auto& thread : threads_)
      for (auto& [cause, busy] : thread) busy.close();
  }

  struct Why {
    IdleCause cause = IdleCause::unknown;
    Blocker blocker;
  };
  [[nodiscard]] Why of(std::int64_t gap_start, Place call) const {
    if (call == kNowhere) return {};
    const auto launch = trace_.calls.start_ns[call];
    if (launch <= gap_start) return {IdleCause::queue, {}};
    const auto& thread = threads_[trace_.calls.lane[call]];
    const auto window = launch - gap_start;
    Busy::Overlap waits;
    for (const auto cause : kBlocking) {
      const auto busy = thread.find(cause);
      if (busy == thread.end()) continue;
      const auto overlap = busy->second.overlap(gap_start, launch);
      if (overlap.sum_ns * 2 > window) return {cause, overlap.longest};
      if (cause == IdleCause::sync) waits = overlap;
    }
    // A thread that waited for the work before begins to launch only when that has ended: its wait ends with the gap's
    // start, and the time that launching takes then is the wait's doing.
    if (waits.any) return {IdleCause::sync, waits.longest};
    return {IdleCause::launch, {}};
  }

 private:
  const Trace& trace_;
  std::vector<std::map<IdleCause, Busy>> threads_;
};

struct QueuedWork {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::int64_t process;
  std::int64_t correlation;
};

}  // namespace

std::vector<Gap> find_gaps(const Trace& trace, const LaunchIndex& launches) {
  std::map<std::pair<std::int64_t, std::int32_t>, std::vector<QueuedWork>> by_device;
  for (const Spans* spans : {static_cast<const Spans*>(&trace.kernels), static_cast<const Spans*>(&trace.copies),
                             static_cast<const Spans*>(&trace.sets)})
    for (std::size_t i = 0; i < spans->size(); ++i) {
      const auto& lane = trace.gpu_lanes[spans->lane[i]];
      by_device[{lane.process, lane.device}].push_back(
          {spans->start_ns[i], spans->start_ns[i] + spans->duration_ns[i], lane.process, spans->correlation[i]});
    }
  const Causes causes(trace);
  std::vector<Gap> gaps;
  for (auto& [where, work] : by_device) {
    std::sort(work.begin(), work.end(), [](const auto& a, const auto& b) {
      return std::tie(a.start_ns, a.end_ns) < std::tie(b.start_ns, b.end_ns);
    });
    auto reached = work.front().end_ns;
    for (const auto& one : work) {
      if (one.start_ns > reached) {
        const auto call = launches.call_of(one.process, one.correlation);
        const auto why = causes.of(reached, call);
        gaps.push_back({where.first, where.second, reached, one.start_ns, why.cause, call, why.blocker});
      }
      reached = std::max(reached, one.end_ns);
    }
  }
  return gaps;
}

}  // namespace ridgeline::trace
