// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/findings/rules.hpp"

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

struct Sum {
  std::int64_t gaps = 0;
  std::int64_t total_ns = 0;
  std::map<std::string, std::int64_t> places;
};

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
  std::map<IdleCause, Sum> sums;
  for (const auto& device : of.tables.devices)
    for (const auto& idle : device.idle) {
      auto& sum = sums[idle.cause];
      sum.gaps += idle.gaps;
      sum.total_ns += idle.total_ns;
      for (const auto& [place, ns] : idle.places) sum.places[place] += ns;
    }
  const auto floor = floor_of(of.analysed);
  for (const auto& advice : kAdvice) {
    const auto found = sums.find(advice.cause);
    if (found == sums.end()) continue;
    const auto& sum = found->second;
    schema::ProfileFinding finding;
    finding.rule = advice.rule;
    finding.saving_ns =
        floor < sum.total_ns / std::max<std::int64_t>(1, sum.gaps) ? sum.total_ns - sum.gaps * floor : 0;
    finding.title =
        fmt::format("{} of the time the GPU waits {}",
                    percent_text(static_cast<double>(sum.total_ns) / static_cast<double>(of.span_ns)), advice.title);
    finding.evidence.push_back(fmt::format(
        "{} gaps, {} in total, {} each in the mean", sum.gaps, base::format_duration(static_cast<double>(sum.total_ns)),
        base::format_duration(static_cast<double>(sum.total_ns / std::max<std::int64_t>(1, sum.gaps)))));
    std::vector<std::pair<std::string, std::int64_t>> places(sum.places.begin(), sum.places.end());
    std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (std::size_t i = 0; i < std::min<std::size_t>(3, places.size()); ++i)
      finding.evidence.push_back(fmt::format(
          "{} before work of {}", base::format_duration(static_cast<double>(places[i].second)), places[i].first));
    if (!places.empty()) finding.module = places.front().first;
    finding.computed = floor > 0 ? fmt::format("the gaps' total, less {} each: the median gap between queued kernels",
                                               base::format_duration(static_cast<double>(floor)))
                                 : "the gaps' total";
    finding.advice = advice.advice;
    finding.code = advice.code;
    of.add(std::move(finding), kLeastIdle);
  }
}

}  // namespace ridgeline::trace
