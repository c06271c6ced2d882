// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/analysis/places.hpp"
#include "trace/analysis/program_place.hpp"
#include "trace/findings/rules.hpp"
#include "trace/findings/tally.hpp"

namespace ridgeline::trace {
namespace {

using schema::IdleCause;

constexpr double kLeastIdle = 0.03;  // of the time, before it is worth a word

struct IdleAdvice {
  IdleCause cause;
  std::string_view rule;
  std::string_view title;  ///< behind "12 % of the time the GPU waits "
  std::string_view advice;
  std::string_view code;
};

constexpr std::array kAdvice{
    IdleAdvice{
        IdleCause::launch, "launch-bound", "for launches",
        "Launch the whole step at once as a CUDA graph, or fuse kernels so that there are fewer launches.",
        "model = torch.compile(model, mode=\"reduce-overhead\")   # inference, or training without changing shapes\n"
        "# ONNX Runtime, CUDA provider: {\"enable_cuda_graph\": \"1\"} with IO binding"},
    IdleAdvice{IdleCause::sync, "sync", "after the host synchronized with it",
               "Leave results on the GPU: .item(), .cpu(), print() and `if tensor:` wait until all work is done.",
               "total += loss.detach()            # not loss.item()\n"
               "if step % 100 == 0: log(total.item())"},
    IdleAdvice{IdleCause::data_loading, "loader-bound", "for the next batch",
               "Load batches beside the training: more workers, pinned memory, prefetching.",
               "DataLoader(dataset, num_workers=8, pin_memory=True, persistent_workers=True, prefetch_factor=4)"},
    IdleAdvice{
        IdleCause::allocation, "allocation", "while memory is allocated or freed",
        "Let the allocator keep its memory: no torch.cuda.empty_cache() in the loop, and segments that can grow.",
        "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
    IdleAdvice{IdleCause::compilation, "compilation", "while code is compiled or loaded",
               "Warm up before what is measured or served, and keep compiled code.",
               "export TORCHINDUCTOR_CACHE_DIR=/var/cache/inductor CUDA_MODULE_LOADING=EAGER"}};

constexpr std::size_t kListedPlaces = 3;

/// Gaps of one cause.
struct IdleSum {
  std::int64_t gaps = 0;
  std::int64_t total_ns = 0;
  Places work;                          ///< behind the gaps
  std::map<std::string, Places> calls;  ///< that held the launching threads up, by name, and where they were made
  std::map<std::string, Places> ranges;
};

std::map<IdleCause, IdleSum> sums_of(const AnalysedTrace& analysed) {
  const auto& trace = analysed.trace;
  const auto name_of = [&](const Spans& spans, Place i) { return std::string(trace.strings.text(spans.name[i])); };
  std::map<IdleCause, IdleSum> sums;
  for (const auto& gap : analysed.gaps) {
    auto& sum = sums[gap.cause];
    ++sum.gaps;
    sum.total_ns += gap.duration_ns();
    if (const auto place = place_of_call(analysed, gap.call); !place.empty()) sum.work.add(place, gap.duration_ns());
    const auto& by = gap.blocker;
    if (by.call != kNowhere)
      sum.calls[name_of(trace.calls, by.call)].add(place_of_call(analysed, by.call), gap.duration_ns());
    if (by.range != kNowhere)
      sum.ranges[name_of(trace.ranges, by.range)].add(place_of_range(analysed, by.range), gap.duration_ns());
  }
  return sums;
}

/// A line of evidence, and the module that it names.
struct IdleLine {
  std::string what;
  std::string module;
  std::int64_t ns = 0;
  std::int64_t gaps = 0;
};

/// What held the launching threads up, or else what they were on their way to.
std::vector<IdleLine> lines_of(const IdleSum& sum) {
  std::vector<IdleLine> lines;
  const auto add = [&](const std::string& name, const Places::Entry& at) {
    // A range that is a row of the module tree is its own place.
    const bool is_place = at.place.empty() || at.place.ends_with(name);
    lines.push_back({"due to " + (is_place ? name : fmt::format("{}, called from {}", name, at.place)), at.place,
                     at.amount, at.count});
  };
  for (const auto& [name, places] : sum.calls)
    for (const auto& at : places.largest(kListedPlaces)) add(name, at);
  for (const auto& [name, places] : sum.ranges)
    for (auto at : places.largest(kListedPlaces)) {
      if (at.place.empty()) at.place = name;
      add(name, at);
    }
  if (lines.empty())
    for (const auto& at : sum.work.largest(kListedPlaces))
      lines.push_back({"before work of " + at.place, at.place, at.amount, at.count});
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
  if (lines.size() > kListedPlaces) lines.resize(kListedPlaces);
  return lines;
}

/// What the GPU takes between two pieces of work that were both queued, the median; 0 without any.
std::int64_t floor_of(const AnalysedTrace& analysed) {
  std::vector<std::int64_t> queued;
  for (const auto& gap : analysed.gaps)
    if (gap.cause == IdleCause::queue) queued.push_back(gap.duration_ns());
  if (queued.empty()) return 0;
  const auto middle = queued.begin() + static_cast<std::ptrdiff_t>(queued.size() / 2);
  std::nth_element(queued.begin(), middle, queued.end());
  return *middle;
}

}  // namespace

void idle_rules(const Case& of) {
  const auto sums = sums_of(of.analysed);
  const auto floor = floor_of(of.analysed);
  for (const auto& advice : kAdvice) {
    const auto found = sums.find(advice.cause);
    if (found == sums.end()) continue;
    const auto& sum = found->second;
    schema::ProfileFinding finding;
    finding.rule = advice.rule;
    finding.saving_ns = floor < sum.total_ns / sum.gaps ? sum.total_ns - sum.gaps * floor : 0;
    finding.title =
        fmt::format("{} of the time the GPU waits {}",
                    percent_text(static_cast<double>(sum.total_ns) / static_cast<double>(of.span_ns)), advice.title);
    finding.evidence.push_back(fmt::format("{}, {} in total, {} each in the mean",
                                           base::counted(static_cast<std::size_t>(sum.gaps), "gap"),
                                           duration_text(sum.total_ns), duration_text(sum.total_ns / sum.gaps)));
    const auto lines = lines_of(sum);
    for (const auto& line : lines)
      finding.evidence.push_back(fmt::format("{} in {} {}", duration_text(line.ns),
                                             base::counted(static_cast<std::size_t>(line.gaps), "gap"), line.what));
    if (!lines.empty()) finding.module = lines.front().module;
    finding.computed = floor > 0 ? fmt::format("the gaps' total, less {} each: the median gap between queued kernels",
                                               duration_text(floor))
                                 : "the gaps' total";
    finding.advice = advice.advice;
    finding.code = advice.code;
    of.add(std::move(finding), kLeastIdle);
  }
}

}  // namespace ridgeline::trace
