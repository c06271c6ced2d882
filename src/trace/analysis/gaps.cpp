// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/gaps.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "trace/analysis/range_names.hpp"

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

/// Disjoint spans of a thread in which it could not launch, by cause.
class Busy {
 public:
  void add(std::int64_t start, std::int64_t end) { spans_.emplace_back(start, end); }

  void close() {
    std::sort(spans_.begin(), spans_.end());
    std::vector<std::pair<std::int64_t, std::int64_t>> merged;
    for (const auto& span : spans_) {
      if (!merged.empty() && span.first <= merged.back().second)
        merged.back().second = std::max(merged.back().second, span.second);
      else
        merged.push_back(span);
    }
    spans_ = std::move(merged);
  }

  [[nodiscard]] std::int64_t overlap(std::int64_t from, std::int64_t to) const {
    std::int64_t sum = 0;
    for (auto at = first_ending_after(from); at != spans_.end() && at->first < to; ++at)
      sum += std::min(to, at->second) - std::max(from, at->first);
    return sum;
  }
  [[nodiscard]] bool touches(std::int64_t from, std::int64_t to) const {
    const auto at = first_ending_after(from);
    return at != spans_.end() && at->first < to;
  }

 private:
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>>::const_iterator first_ending_after(
      std::int64_t time) const {
    return std::partition_point(spans_.begin(), spans_.end(), [&](const auto& span) { return span.second <= time; });
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> spans_;
};

constexpr std::array kBlocking{IdleCause::data_loading, IdleCause::compilation, IdleCause::allocation,
                               IdleCause::profiler, IdleCause::sync};

class Causes {
 public:
  explicit Causes(const Trace& trace) : trace_(trace), threads_(trace.thread_lanes.size()) {
    const auto add = [&](const Spans& spans, std::size_t i, IdleCause cause) {
      if (cause != IdleCause::launch)
        threads_[spans.lane[i]][cause].add(spans.start_ns[i], spans.start_ns[i] + spans.duration_ns[i]);
    };
    // Names come again and again; each is looked at once.
    std::map<std::pair<NameId, int>, IdleCause> known;
    const auto cached = [&](NameId name, int kind, auto find) {
      const auto [found, is_new] = known.try_emplace({name, kind}, IdleCause::launch);
      if (is_new) found->second = find(trace_.strings.text(name));
      return found->second;
    };
    for (std::size_t i = 0; i < trace.calls.size(); ++i)
      add(trace.calls, i, cached(trace.calls.name[i], -1, cause_of_call));
    for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
      const auto kind = trace.ranges.kind[i];
      add(trace.ranges, i, cached(trace.ranges.name[i], static_cast<int>(kind), [&](std::string_view name) {
            return cause_of_range(kind, name);
          }));
    }
    for (auto& thread : threads_)
      for (auto& [cause, busy] : thread) busy.close();
  }

  [[nodiscard]] IdleCause of(std::int64_t gap_start, Place call) const {
    if (call == kNowhere) return IdleCause::unknown;
    const auto launch = trace_.calls.start_ns[call];
    if (launch <= gap_start) return IdleCause::queue;
    const auto& thread = threads_[trace_.calls.lane[call]];
    const auto window = launch - gap_start;
    for (const auto cause : kBlocking) {
      const auto busy = thread.find(cause);
      if (busy == thread.end()) continue;
      if (busy->second.overlap(gap_start, launch) * 2 > window) return cause;
    }
    // A thread that waited for the work before begins to launch only when that has ended: its wait ends with the gap's
    // start, and the time that launching takes then is the wait's doing.
    if (const auto waits = thread.find(IdleCause::sync);
        waits != thread.end() && waits->second.touches(gap_start, launch))
      return IdleCause::sync;
    return IdleCause::launch;
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
        gaps.push_back({where.first, where.second, reached, one.start_ns, causes.of(reached, call), call});
      }
      reached = std::max(reached, one.end_ns);
    }
  }
  return gaps;
}

std::string python_line_of(const Trace& trace, const Nesting& nesting, Place call) {
  if (call == kNowhere) return {};
  for (auto range = nesting.range_of_call[call]; range != kNowhere; range = nesting.parent_of_range[range]) {
    if (trace.ranges.kind[range] != RangeKind::python) continue;
    const auto name = trace.strings.text(trace.ranges.name[range]);
    // The user's own line, not that of a library which it calls.
    if (is_python_line(name) && !contains(name, "torch/") && !contains(name, "<built-in")) return std::string(name);
  }
  return {};
}

}  // namespace ridgeline::trace
