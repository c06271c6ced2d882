// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/analysis/first_calls.hpp"
#include "trace/analysis/places.hpp"
#include "trace/analysis/program_place.hpp"
#include "trace/findings/awaited_work.hpp"
#include "trace/findings/rules.hpp"
#include "trace/findings/tally.hpp"

namespace ridgeline::trace {
namespace {

using schema::IdleCause;

constexpr double kLeastIdle = 0.03;  // of the time, before it is worth a word

struct IdleAdvice {
  IdleCause cause;
  std::string_view title;  ///< behind "12 % of the time the GPU waits "
  Advice advice;           ///< "": computed as all are
};

constexpr std::string_view kAtMost =
    "at most: the shorter of the idle time and the GPUs' busy time, as the two can overlap";

constexpr std::array kAdvice{
    IdleAdvice{IdleCause::launch,
               "for launches",
               {"launch-bound",
                {},
                "Launch the whole step at once as a CUDA graph, or fuse kernels so that there are fewer launches.",
                "model = torch.compile(model, mode=\"reduce-overhead\")   # inference, or training without changing "
                "shapes",
                "Launch the whole run at once as a CUDA graph.",
                "# ONNX Runtime, CUDA provider: {\"enable_cuda_graph\": \"1\"} with IO binding"}},
    IdleAdvice{IdleCause::host_work,
               "while the host does other work",
               {"host-work", kAtMost,
                "Do it while the GPU computes, in another thread or process; or do it faster, less often, or on the "
                "GPU.",
                "with concurrent.futures.ThreadPoolExecutor(1) as worker:\n"
                "    following = worker.submit(prepare, following_input)   # while the GPU computes"}},
    IdleAdvice{
        IdleCause::queue,
        "although its next work is queued",
        {"queued-wait",
         {},
         "See what the stream waits for: an event of another stream or GPU, a function of the host in the stream, "
         "or another program on this GPU.",
         {}}},
    IdleAdvice{IdleCause::sync,
               "after the host synchronized with it",
               {"sync",
                {},
                "Leave results on the GPU: .item(), .cpu(), print() and `if tensor:` wait until all work is done.",
                "total += loss.detach()            # not loss.item(); of any tensor likewise\n"
                "if step % 100 == 0: log(total.item())",
                "Leave results on the GPU, and copy once what is needed.",
                "# ONNX Runtime: binding = session.io_binding(); binding.bind_output(name, \"cuda\")"}},
    IdleAdvice{IdleCause::data_loading,
               "for the next batch",
               {"loader-bound",
                {},
                "Load batches while the GPU computes: more workers, pinned memory, prefetching.",
                "DataLoader(dataset, num_workers=8, pin_memory=True, persistent_workers=True, prefetch_factor=4)"}},
    IdleAdvice{
        IdleCause::allocation,
        "while memory is allocated or freed",
        {"allocation",
         {},
         "Let the allocator keep its memory: no torch.cuda.empty_cache() in the loop, and segments that can grow.",
         "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
         "Let the arena keep its memory from run to run.",
         "# ONNX Runtime, CUDA provider: {\"arena_extend_strategy\": \"kNextPowerOfTwo\"}"}},
    IdleAdvice{IdleCause::compilation,
               "while code is compiled or loaded",
               {"compilation",
                {},
                "Warm up before what is measured or served, and keep compiled code.",
                "export TORCHINDUCTOR_CACHE_DIR=/var/cache/inductor CUDA_MODULE_LOADING=EAGER",
                "Warm up before what is measured or served, and keep compiled code.",
                "export CUDA_MODULE_LOADING=EAGER"}}};

/// Where what is launched late are graphs already.
constexpr Advice kLateGraphs{
    "launch-bound",
    {},
    "The work is in CUDA graphs already: let the host launch the next one while one runs, without waiting for it, and "
    "take into the graph what the host does between them.",
    {}};

constexpr std::size_t kListedPlaces = 3;

/// A line of evidence, and the module that it names.
struct IdleLine {
  std::string what;
  std::string module;
  std::int64_t ns = 0;
  std::int64_t gaps = 0;  ///< 0: it lies before the first work or behind the last, as `what` says
};

/// Gaps of one cause.
struct IdleSum {
  std::int64_t gaps = 0;  ///< between two pieces of work
  std::int64_t gaps_ns = 0;
  std::int64_t before_ns = 0;           ///< the first work
  std::int64_t behind_ns = 0;           ///< the last
  std::int64_t graphs_ns = 0;           ///< before work of a CUDA graph
  std::int64_t counted_ns = 0;          ///< that another finding has, in none of the others
  Places work;                          ///< behind the gaps
  Places awaited;                       ///< what it waited for on the GPU
  std::map<std::string, Places> calls;  ///< that held the launching threads up, by name, and where they were made
  std::map<std::string, Places> ranges;
  std::vector<IdleLine> outer;  ///< what held them up before the first work and behind the last
  [[nodiscard]] std::int64_t total_ns() const noexcept { return gaps_ns + before_ns + behind_ns; }
};

/// "due to aten::item, called from train.py(41): step".
std::string due_text(const std::string& name, const std::string& place) {
  // A range that is a row of the module tree is its own place.
  const bool is_place = place.empty() || place.ends_with(name);
  return "due to " + (is_place ? name : fmt::format("{}, called from {}", name, place));
}

void add_gap(const AnalysedTrace& analysed, const Gap& gap, IdleSum& sum) {
  const auto ns = gap.duration_ns();
  const auto name = name_of_blocker(analysed, gap.blocker);
  const auto& by = gap.blocker;
  if (gap.call != kNowhere &&
      analysed.trace.strings.text(analysed.trace.calls.name[gap.call]).find("GraphLaunch") != std::string_view::npos)
    sum.graphs_ns += ns;
  const auto place = by.call != kNowhere ? place_of_call(analysed, by.call) : place_of_range(analysed, by.range);
  if (gap.place != GapPlace::between_work) {
    const bool before = gap.place == GapPlace::before_work;
    (before ? sum.before_ns : sum.behind_ns) += ns;
    if (!name.empty())
      sum.outer.push_back(
          {(before ? "before the first work " : "behind the last ") + due_text(name, place), place, ns});
    return;
  }
  ++sum.gaps;
  sum.gaps_ns += ns;
  if (const auto at = place_of_call(analysed, gap.call); !at.empty()) sum.work.add(at, ns);
  if (!name.empty()) (by.call != kNowhere ? sum.calls : sum.ranges)[name].add(place, ns);
}

std::map<IdleCause, IdleSum> sums_of(const Case& of) {
  const auto& analysed = of.analysed;
  const auto first = first_calls(analysed);
  std::optional<AwaitedWork> awaited;
  std::map<IdleCause, IdleSum> sums;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto& gap = analysed.gaps[i];
    if (of.counted_gaps[i]) sums[gap.cause].counted_ns += gap.duration_ns();
    if (of.counted_gaps[i] || first[i] || (gap.cause == IdleCause::queue && gap.duration_ns() <= kLongestTurnNs))
      continue;
    add_gap(analysed, gap, sums[gap.cause]);
    if (gap.cause != IdleCause::queue || gap.place != GapPlace::between_work) continue;
    if (!awaited) awaited.emplace(analysed);
    if (const auto what = awaited->of(gap); !what.empty()) sums[gap.cause].awaited.add_alone(what, gap.duration_ns());
  }
  return sums;
}

/// What held the launching threads up, or else what they were on their way to.
std::vector<IdleLine> lines_of(IdleCause cause, const IdleSum& sum) {
  auto lines = sum.outer;
  const auto add = [&](const std::string& name, const Places::Entry& at) {
    lines.push_back({due_text(name, at.place), at.place, at.amount, at.count});
  };
  for (const auto& [name, places] : sum.calls)
    for (const auto& at : places.largest(kListedPlaces)) add(name, at);
  for (const auto& [name, places] : sum.ranges)
    for (auto at : places.largest(kListedPlaces)) {
      if (at.place.empty()) at.place = name;
      add(name, at);
    }
  const auto work = sum.work.largest(kListedPlaces);
  for (const auto& at : sum.awaited.largest(kListedPlaces))
    lines.push_back({at.place, work.empty() ? std::string() : work.front().place, at.amount, at.count});
  if (lines.empty() && cause != IdleCause::host_work)
    for (const auto& at : work) lines.push_back({"before work of " + at.place, at.place, at.amount, at.count});
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
  if (lines.size() > kListedPlaces) lines.resize(kListedPlaces);
  return lines;
}

/// What the GPU takes between two pieces of work that were both queued, the median of those that only take their turn;
/// 0 without any.
std::int64_t floor_of(const AnalysedTrace& analysed) {
  std::vector<std::int64_t> queued;
  for (const auto& gap : analysed.gaps)
    if (gap.cause == IdleCause::queue && gap.place == GapPlace::between_work && gap.duration_ns() <= kLongestTurnNs)
      queued.push_back(gap.duration_ns());
  if (queued.empty()) return 0;
  const auto middle = queued.begin() + static_cast<std::ptrdiff_t>(queued.size() / 2);
  std::nth_element(queued.begin(), middle, queued.end());
  return *middle;
}

std::int64_t busy_ns(const schema::ProfileTables& tables) {
  std::int64_t sum = 0;
  for (const auto& device : tables.devices) sum += device.busy_ns;
  return sum;
}

/// "4 gaps, 204 ms in total, 51.0 ms each in the mean; 50.1 ms before the first work".
std::string extent_of(const IdleSum& sum) {
  std::vector<std::string> parts;
  if (sum.gaps > 0)
    parts.push_back(fmt::format("{}, {} in total, {} each in the mean",
                                base::counted(static_cast<std::size_t>(sum.gaps), "gap"), duration_text(sum.gaps_ns),
                                duration_text(sum.gaps_ns / sum.gaps)));
  if (sum.before_ns > 0) parts.push_back(duration_text(sum.before_ns) + " before the first work");
  if (sum.behind_ns > 0) parts.push_back(duration_text(sum.behind_ns) + " behind the last");
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

void idle_rules(const Case& of) {
  const auto sums = sums_of(of);
  const auto floor = floor_of(of.analysed);
  for (const auto& [cause, title, advice] : kAdvice) {
    const auto found = sums.find(cause);
    if (found == sums.end()) continue;
    const auto& sum = found->second;
    schema::ProfileFinding finding;
    of.advise(finding, cause == IdleCause::launch && 2 * sum.graphs_ns > sum.total_ns() ? kLateGraphs : advice);
    const bool of_host = cause == IdleCause::host_work;
    finding.saving_ns = std::max<std::int64_t>(0, sum.total_ns() - sum.gaps * floor);
    if (of_host) finding.saving_ns = std::min(finding.saving_ns, busy_ns(of.tables));
    const auto share = static_cast<double>(sum.total_ns()) / static_cast<double>(of.span_ns);
    finding.title = fmt::format("{} of the time the GPU waits {}", percent_text(share), title);
    finding.evidence.push_back(extent_of(sum));
    const auto lines = lines_of(cause, sum);
    for (const auto& line : lines)
      finding.evidence.push_back(line.gaps == 0 ? fmt::format("{} {}", duration_text(line.ns), line.what)
                                                : fmt::format("{} in {} {}", duration_text(line.ns),
                                                              base::counted(static_cast<std::size_t>(line.gaps), "gap"),
                                                              line.what));
    if (sum.counted_ns > 0)
      finding.evidence.push_back(duration_text(sum.counted_ns) +
                                 " between the kernels of an optimizer are a finding of their own");
    if (!lines.empty()) finding.module = lines.front().module;
    if (of_host && lines.empty())
      finding.evidence.emplace_back(
          "what the host did is not in the trace: torch.profiler.profile(with_stack=True) or NVTX ranges name it");
    if (finding.computed.empty())
      finding.computed = floor > 0 && sum.gaps > 0
                             ? fmt::format("the gaps' total, less {} each: the median gap between queued kernels",
                                           duration_text(floor))
                             : "the gaps' total";
    // That the host does something else is worth a word where the GPU has little to do beside it, too.
    of.add(std::move(finding), of_host && share >= kLeastIdle ? 0 : kLeastIdle);
  }
}

}  // namespace ridgeline::trace
