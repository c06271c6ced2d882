// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/idle_causes.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "trace/analysis/range_names.hpp"

namespace ridgeline::trace {
namespace {

using schema::IdleCause;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// What a call of CUDA or HIP keeps a thread from launching by; launch: nothing of that kind.
IdleCause cause_of_call(std::string_view name) {
  if (contains(name, "Synchronize") || contains(name, "StreamWait") || name == "cudaMemcpy" ||
      name == "cudaMemcpyToSymbol" || name.starts_with("cuMemcpyDtoH_") || name.starts_with("cuMemcpyHtoD_") ||
      name == "hipMemcpy" || name == "hipMemcpyWithStream")
    return contains(name, "StreamWait") ? IdleCause::launch : IdleCause::sync;
  if (contains(name, "Malloc") || contains(name, "cudaFree") || contains(name, "hipFree") ||
      contains(name, "cuMemFree") || contains(name, "cuMemAlloc") || contains(name, "cuMemCreate") ||
      contains(name, "cuMemMap") || contains(name, "cuMemSetAccess") || contains(name, "HostAlloc"))
    return IdleCause::allocation;
  if (contains(name, "StreamCreate") || contains(name, "CtxCreate") || contains(name, "PrimaryCtxRetain") ||
      contains(name, "FuncGetAttributes") || contains(name, "FuncSetAttribute") || name == "cuInit" ||
      name == "cudaSetDevice" || name == "cudaGetDeviceCount")
    return IdleCause::compilation;  // what the first call of all does, and the first one for a kernel
  if (contains(name, "ModuleLoad") || contains(name, "LibraryLoad") || contains(name, "LinkComplete") ||
      contains(name, "cuModuleGetLoading") || contains(name, "GraphInstantiate"))
    return IdleCause::compilation;
  return IdleCause::launch;
}

/// Of Python's library, what waits for another thread or process, a socket or a time.
bool waits_for_others(std::string_view name) {
  constexpr std::array kWaits{
      "_thread.lock",  "_thread.RLock", "threading.py(",         "queue.py(",  "select.epoll",
      "select.poll",   "selectors.py(", "built-in method sleep", "time.sleep", "multiprocessing/connection.py(",
      "subprocess.py("};
  return std::any_of(kWaits.begin(), kWaits.end(), [&](std::string_view wait) { return contains(name, wait); });
}

IdleCause cause_of_range(RangeKind kind, std::string_view name) {
  if (kind == RangeKind::overhead)
    return contains(name, "ompil") || contains(name, "oading") ? IdleCause::compilation : IdleCause::profiler;
  if (contains(name, "DataLoader") && !contains(name, "__init__")) return IdleCause::data_loading;
  if (kind == RangeKind::python) {
    if (contains(name, "torch/utils/data/") && contains(name, "__next__")) return IdleCause::data_loading;
    if (contains(name, "torch/_dynamo/convert_frame") || contains(name, "torch/_inductor/compile"))
      return IdleCause::compilation;
    return waits_for_others(name) ? IdleCause::host_wait : IdleCause::launch;
  }
  // These wait for the GPU, whatever the trace says of calls.
  if (name == "aten::item" || name == "aten::_local_scalar_dense" || name == "aten::nonzero") return IdleCause::sync;
  return IdleCause::launch;
}

constexpr std::array kBlocking{IdleCause::data_loading, IdleCause::compilation, IdleCause::allocation,
                               IdleCause::profiler,     IdleCause::sync,        IdleCause::host_wait};
constexpr std::int64_t kManyLaunches = 10;   // in whose time a thread that does one thing alone does something else
constexpr std::int64_t kFilledPercent = 80;  // of a time, by a range that is named as what filled it

std::int64_t count_in(const std::vector<std::int64_t>& sorted, std::int64_t from, std::int64_t to) {
  return std::lower_bound(sorted.begin(), sorted.end(), to) - std::lower_bound(sorted.begin(), sorted.end(), from);
}

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::int64_t median_interval(const std::vector<std::int64_t>& starts) {
  std::vector<std::int64_t> intervals;
  for (std::size_t i = 1; i < starts.size(); ++i) intervals.push_back(starts[i] - starts[i - 1]);
  return median(std::move(intervals));
}

}  // namespace

bool waits_for_gpu(std::string_view call) { return cause_of_call(call) == IdleCause::sync; }

void BlockedTime::close() {
  std::stable_sort(spans_.begin(), spans_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.start_ns, -a.end_ns) < std::pair(b.start_ns, -b.end_ns);
  });
  std::vector<Span> merged;
  for (const auto& span : spans_) {
    if (!merged.empty() && span.start_ns < merged.back().end_ns)
      merged.back().end_ns = std::max(merged.back().end_ns, span.end_ns);
    else
      merged.push_back(span);
  }
  spans_ = std::move(merged);
}

BlockedTime::Overlap BlockedTime::overlap(std::int64_t from, std::int64_t to) const {
  Overlap out;
  std::int64_t most = -1;
  auto at = std::partition_point(spans_.begin(), spans_.end(), [&](const auto& span) { return span.end_ns <= from; });
  for (; at != spans_.end() && at->start_ns < to; ++at) {
    const auto ns = std::min(to, at->end_ns) - std::max(from, at->start_ns);
    out.sum_ns += ns;
    out.end_ns = std::min(to, at->end_ns);
    out.any = true;
    if (ns > most) {
      most = ns;
      out.longest = at->by;
    }
  }
  return out;
}

LaunchTimes::LaunchTimes(const Trace& trace, const LaunchIndex& launches)
    : starts_(trace.thread_lanes.size()), lost_(trace.thread_lanes.size()) {
  std::unordered_set<std::int64_t> with_work;  // correlations
  std::vector<std::vector<std::int64_t>> durations(starts_.size());
  for (const Spans* work : {static_cast<const Spans*>(&trace.kernels), static_cast<const Spans*>(&trace.copies),
                            static_cast<const Spans*>(&trace.sets)}) {
    with_work.insert(work->correlation.begin(), work->correlation.end());
    for (const auto call : launches.calls_of(*work))
      if (call != kNowhere) {
        starts_[trace.calls.lane[call]].push_back(trace.calls.start_ns[call]);
        durations[trace.calls.lane[call]].push_back(trace.calls.duration_ns[call]);
      }
  }
  std::unordered_map<NameId, bool> is_launch;
  for (std::size_t i = 0; i < trace.calls.size(); ++i) {
    const auto [known, is_new] = is_launch.try_emplace(trace.calls.name[i], false);
    if (is_new) {
      const auto name = trace.strings.text(trace.calls.name[i]);
      known->second = contains(name, "LaunchKernel") || contains(name, "GraphLaunch") || contains(name, "Cooperative");
    }
    if (known->second && trace.calls.correlation[i] != 0 && !with_work.contains(trace.calls.correlation[i]))
      lost_[trace.calls.lane[i]].push_back(trace.calls.start_ns[i]);
  }
  for (auto& starts : lost_) std::sort(starts.begin(), starts.end());
  for (auto& starts : starts_) {
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());  // a CUDA graph is one launch
    usual_.push_back(median_interval(starts));
  }
  for (auto& of_lane : durations) call_.push_back(median(std::move(of_lane)));
}

std::int64_t LaunchTimes::count(LaneId lane, std::int64_t from, std::int64_t to) const {
  return count_in(starts_[lane], from, to);
}

std::int64_t LaunchTimes::count_lost(LaneId lane, std::int64_t from, std::int64_t to) const {
  return count_in(lost_[lane], from, to);
}

IdleCauses::IdleCauses(const Trace& trace, const LaunchIndex& launches, const Nesting& nesting, const Steps& steps)
    : trace_(trace),
      nesting_(nesting),
      steps_(steps),
      launch_times_(trace, launches),
      threads_(trace.thread_lanes.size()) {
  const auto add = [&](const Spans& spans, std::size_t i, IdleCause cause, const Blocker& by) {
    if (cause != IdleCause::launch)
      threads_[spans.lane[i]][cause].add(spans.start_ns[i], spans.start_ns[i] + spans.duration_ns[i], by);
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
    // What the profiler does has a process of its own in Kineto's files: any thread may have waited for it.
    if (kind == RangeKind::overhead && trace.thread_lanes[trace.ranges.lane[i]].process < 0)
      profiler_[cause].add(trace.ranges.start_ns[i], trace.ranges.start_ns[i] + trace.ranges.duration_ns[i],
                           {.range = i});
  }
  for (auto& [cause, busy] : profiler_) busy.close();
  for (auto& thread : threads_)
    for (auto& [cause, busy] : thread) busy.close();
}

Quiet IdleCauses::behind_waits(const Quiet& quiet) const {
  const auto waits = threads_[quiet.lane].find(IdleCause::sync);
  if (waits == threads_[quiet.lane].end()) return quiet;
  auto behind = quiet;
  behind.from = std::max(quiet.from, waits->second.overlap(quiet.from, quiet.to).end_ns);
  return behind.duration_ns() * 2 > quiet.duration_ns() ? behind : quiet;
}

IdleCauses::Why IdleCauses::of(const Quiet& quiet, Place inside) const {
  BlockedTime::Overlap waits;
  for (const auto cause : kBlocking) {
    for (const auto* of : {&threads_[quiet.lane], &profiler_}) {
      const auto busy = of->find(cause);
      if (busy == of->end()) continue;
      const auto overlap = busy->second.overlap(quiet.from, quiet.to);
      if (overlap.sum_ns * 2 > quiet.duration_ns()) return {cause, overlap.longest};
      if (cause == IdleCause::sync) waits = overlap;
    }
  }
  const auto behind = behind_waits(quiet);
  const auto filler = filler_of(behind, inside);
  if (filler != kNowhere && is_on_its_way(quiet, filler))
    return {waits.any ? IdleCause::sync : IdleCause::launch, waits.longest};
  if (filler != kNowhere && is_work_of_its_own(behind, filler)) return {IdleCause::host_work, {.range = filler}};
  // A thread that waited for the work before begins to launch only when that has ended: its wait ends with the gap's
  // start, and the time that launching takes then is the wait's doing.
  const bool is_launching = behind.duration_ns() < kLongestLaunchNs;
  if (waits.any && quiet.ends_in_launch && is_launching) return {IdleCause::sync, waits.longest};
  // It launched after all: what is not in the trace, or for another GPU.
  if (launch_times_.count_lost(quiet.lane, quiet.from, quiet.to) > 0) return {};
  if (quiet.ends_in_launch && launch_times_.count(quiet.lane, quiet.from, quiet.to) > 0) return {IdleCause::launch, {}};
  if (!is_launching || !quiet.ends_in_launch) {
    // The parts of what launches other things too say more than its name.
    auto by = longest_within(behind);
    if (by.range == kNowhere) by.range = filler;
    return {by.range == kNowhere ? IdleCause::host_unrecorded : IdleCause::host_work, by};
  }
  return {IdleCause::launch, {}};
}

/// The innermost range that fills that time; kNowhere: none. One that fills most of it holds its middle.
Place IdleCauses::filler_of(const Quiet& quiet, Place range) const {
  const auto& ranges = trace_.ranges;
  for (; range != kNowhere; range = nesting_.parent_of_range[range]) {
    const auto start = std::max(ranges.start_ns[range], quiet.from);
    const auto end = std::min(ranges.start_ns[range] + ranges.duration_ns[range], quiet.to);
    if ((end - start) * 100 < quiet.duration_ns() * kFilledPercent || ranges.kind[range] == RangeKind::overhead)
      continue;
    return is_step(range) ? kNowhere : range;
  }
  return kNowhere;
}

/// Of the ranges that lie within that time one after the other, if they fill most of it together.
Blocker IdleCauses::longest_within(const Quiet& quiet) const {
  const auto& ranges = trace_.ranges;
  const auto& order = nesting_.range_order;
  auto at = std::partition_point(order.begin(), order.end(), [&](Place range) {
    return std::pair(ranges.lane[range], ranges.start_ns[range]) < std::pair(quiet.lane, quiet.from);
  });
  Blocker longest;
  std::int64_t sum_ns = 0;
  auto reached = quiet.from;
  for (; at != order.end() && ranges.lane[*at] == quiet.lane && ranges.start_ns[*at] < quiet.to; ++at) {
    const auto start = ranges.start_ns[*at];
    const auto ns = ranges.duration_ns[*at];
    if (start < reached || start + ns > quiet.to || ranges.kind[*at] == RangeKind::overhead || is_step(*at)) continue;
    reached = start + ns;
    sum_ns += ns;
    if (ns > longest.ns) longest = {.range = *at, .ns = ns};
  }
  return sum_ns * 2 > quiet.duration_ns() ? longest : Blocker();
}

bool IdleCauses::is_loading(LaneId lane, std::int64_t from, std::int64_t to) const {
  for (const auto* of : {&threads_[lane], &profiler_})
    if (const auto busy = of->find(IdleCause::compilation);
        busy != of->end() && busy->second.overlap(from, to).sum_ns * 2 > to - from)
      return true;
  return false;
}

bool IdleCauses::is_step(Place range) const {
  return is_profiler_step(trace_.strings.text(trace_.ranges.name[range])) ||
         steps_.is_number(range, trace_.ranges.start_ns[range]);
}

/// An operation of the framework that makes the launch: what it does until then is how it launches.
bool IdleCauses::is_on_its_way(const Quiet& quiet, Place range) const {
  const auto& ranges = trace_.ranges;
  return quiet.ends_in_launch && ranges.start_ns[range] + ranges.duration_ns[range] > quiet.to &&
         (ranges.kind[range] == RangeKind::operation ||
          trace_.strings.text(ranges.name[range]).starts_with("Optimizer."));
}

/// It launches nothing but what comes behind it, and takes far longer than its thread does for a launch; if it ends
/// before the launch, far longer than the call alone.
bool IdleCauses::is_work_of_its_own(const Quiet& quiet, Place range) const {
  const auto start = trace_.ranges.start_ns[range];
  const auto end = start + trace_.ranges.duration_ns[range];
  const auto launches = launch_times_.count(quiet.lane, start, end);
  if (launches > 1) return false;
  const auto call = launch_times_.call_ns(quiet.lane);
  if (launches == 0 && end <= quiet.to && call > 0 && quiet.duration_ns() >= call * kManyLaunches) return true;
  const auto usual = launch_times_.usual_ns(quiet.lane);
  return quiet.duration_ns() >= std::min(kLongestLaunchNs, usual > 0 ? usual * kManyLaunches : kLongestLaunchNs);
}

}  // namespace ridgeline::trace
