// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "trace/analysis/first_calls.hpp"
#include "trace/analysis/places.hpp"
#include "trace/analysis/program_place.hpp"
#include "trace/findings/awaited_work.hpp"
#include "trace/findings/copy_advice.hpp"
#include "trace/findings/rules.hpp"
#include "trace/findings/tally.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

using schema::IdleCause;

constexpr double kLeastIdle = 0.03;  // of the time, before it is worth a word

struct IdleAdvice {
  IdleCause cause;
  schema::Message (*title)(double share);
  Advice advice;
};

constexpr std::array kAdvice{
    IdleAdvice{IdleCause::launch,
               &messages::launch_bound,
               {&messages::advice_graph_of_step,
                "model = torch.compile(model, mode=\"reduce-overhead\")   # inference, or training without changing "
                "shapes",
                &messages::advice_graph_of_run,
                "# ONNX Runtime, CUDA provider: {\"enable_cuda_graph\": \"1\"} with IO binding"}},
    IdleAdvice{IdleCause::host_work,
               &messages::host_work,
               {&messages::advice_overlap_host_work,
                "with concurrent.futures.ThreadPoolExecutor(1) as worker:\n"
                "    following = worker.submit(prepare, following_input)   # while the GPU computes"}},
    IdleAdvice{IdleCause::host_wait, &messages::host_wait, {&messages::advice_see_other_thread, {}}},
    IdleAdvice{IdleCause::pageable_copy, &messages::pageable_wait, kPinMemory},
    IdleAdvice{IdleCause::queue, &messages::queued_wait, {&messages::advice_look_at_queue, {}}},
    IdleAdvice{IdleCause::sync,
               &messages::sync,
               {&messages::advice_no_sync,
                "total += loss.detach()            # not loss.item(); of any tensor likewise\n"
                "if step % 100 == 0: log(total.item())",
                &messages::advice_no_sync_onnx,
                "# ONNX Runtime: binding = session.io_binding(); binding.bind_output(name, \"cuda\")"}},
    IdleAdvice{IdleCause::data_loading,
               &messages::loader_bound,
               {&messages::advice_load_ahead,
                "DataLoader(dataset, num_workers=8, pin_memory=True, persistent_workers=True, prefetch_factor=4)"}},
    IdleAdvice{IdleCause::allocation,
               &messages::allocation,
               {&messages::advice_keep_memory, "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                &messages::advice_keep_arena,
                "# ONNX Runtime, CUDA provider: {\"arena_extend_strategy\": \"kNextPowerOfTwo\"}"}},
    IdleAdvice{
        IdleCause::compilation,
        &messages::compilation,
        {&messages::advice_warm_up, "export TORCHINDUCTOR_CACHE_DIR=/var/cache/inductor CUDA_MODULE_LOADING=EAGER",
         &messages::advice_warm_up, "export CUDA_MODULE_LOADING=EAGER"}}};

/// Where what is launched late are graphs already.
constexpr Advice kLateGraphs{&messages::advice_graphs_ahead, {}};

/// If most of what is allocated is memory of the host.
constexpr Advice kPinnedMemory{&messages::advice_reuse_pinned,
                               "buffer = torch.empty(shape, pin_memory=True)   # once; then buffer.copy_(batch)",
                               &messages::advice_reuse_pinned, kBinding};

constexpr std::size_t kListedPlaces = 3;

/// A line of evidence, and the module that it names.
struct IdleLine {
  schema::Message message;
  std::string module;
  std::int64_t ns = 0;
};

/// Gaps of one cause.
struct IdleSum {
  std::int64_t gaps = 0;  ///< between two pieces of work
  std::int64_t gaps_ns = 0;
  std::int64_t before_ns = 0;       ///< the first work
  std::int64_t behind_ns = 0;       ///< the last
  std::int64_t graphs_ns = 0;       ///< before work of a CUDA graph
  std::int64_t host_memory_ns = 0;  ///< in calls that allocate memory of the host
  /// Of each GPU its gaps between work, and all its idle time of the cause.
  std::map<ProcessDevice, std::pair<std::int64_t, std::int64_t>> by_gpu;
  std::int64_t counted_ns = 0;          ///< that another finding has, in none of the others
  Places work;                          ///< behind the gaps
  Places awaited;                       ///< what it waited for on the GPU, JSON of a message
  std::map<std::string, Places> calls;  ///< that held the launching threads up, by name, and where they were made
  std::map<std::string, Places> ranges;
  std::vector<IdleLine> outer;  ///< what held them up before the first work and behind the last
  [[nodiscard]] std::int64_t total_ns() const noexcept { return gaps_ns + before_ns + behind_ns; }
};

using DueTo = messages::IdleDueWhere;

/// "10.0 ms in 2 gaps due to aten::item, called from train.py(41): step".
IdleLine line_of(DueTo where, const std::string& name, const Places::Entry& at) {
  // A range that is a row of the module tree is its own place.
  const bool is_place = at.place.empty() || at.place.ends_with(name);
  return {messages::idle_due({.time = static_cast<double>(at.amount),
                              .where = where,
                              .gaps = at.count,
                              .name = name,
                              .place = is_place ? std::string() : at.place}),
          at.place, at.amount};
}

void add_gap(const AnalysedTrace& analysed, const Gap& gap, IdleSum& sum) {
  const auto ns = gap.duration_ns();
  const auto name = name_of_blocker(analysed, gap.blocker);
  const auto& by = gap.blocker;
  auto& of_gpu = sum.by_gpu[{gap.process, gap.device}];
  of_gpu.first += gap.place == GapPlace::between_work ? 1 : 0;
  of_gpu.second += ns;
  if (name.find("HostAlloc") != std::string::npos || name.find("HostRegister") != std::string::npos)
    sum.host_memory_ns += ns;
  if (gap.call != kNowhere &&
      analysed.trace.strings.text(analysed.trace.calls.name[gap.call]).find("GraphLaunch") != std::string_view::npos)
    sum.graphs_ns += ns;
  const auto place = by.call != kNowhere ? place_of_call(analysed, by.call) : place_of_range(analysed, by.range);
  const auto by_ns = by.ns > 0 ? by.ns : ns;
  if (gap.place != GapPlace::between_work) {
    const bool before = gap.place == GapPlace::before_work;
    (before ? sum.before_ns : sum.behind_ns) += ns;
    if (!name.empty()) sum.outer.push_back(line_of(before ? DueTo::before : DueTo::behind, name, {place, by_ns, 1}));
    return;
  }
  ++sum.gaps;
  sum.gaps_ns += ns;
  if (const auto at = place_of_call(analysed, gap.call); !at.empty()) sum.work.add(at, ns);
  if (!name.empty()) (by.call != kNowhere ? sum.calls : sum.ranges)[name].add(place, by_ns);
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
    if (const auto what = awaited->of(gap); !what.empty())
      sums[gap.cause].awaited.add_alone(base::dump_json(what), gap.duration_ns());
  }
  return sums;
}

/// What held the launching threads up, or else what they were on their way to.
std::vector<IdleLine> lines_of(const IdleSum& sum) {
  auto lines = sum.outer;
  const auto add = [&](const std::string& name, const Places::Entry& at) {
    lines.push_back(line_of(DueTo::between, name, at));
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
    lines.push_back({messages::idle_awaited({.time = static_cast<double>(at.amount),
                                             .gaps = at.count,
                                             .awaited = base::Json::parse(at.place).get<schema::Message>()}),
                     work.empty() ? std::string() : work.front().place, at.amount});
  if (lines.empty())
    for (const auto& at : work)
      lines.push_back(
          {messages::idle_before_work({.time = static_cast<double>(at.amount), .gaps = at.count, .place = at.place}),
           at.place, at.amount});
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

/// No step ends before the busiest GPU has done its work: time in which others wait is not saved beside it.
const schema::ProfileDevice& busiest(const schema::ProfileTables& tables) {
  return *std::max_element(tables.devices.begin(), tables.devices.end(),
                           [](const auto& one, const auto& other) { return one.busy_ns < other.busy_ns; });
}

const Advice& advice_of(const IdleAdvice& row, const IdleSum& sum) {
  if (row.cause == IdleCause::launch && 2 * sum.graphs_ns > sum.total_ns()) return kLateGraphs;
  if (row.cause == IdleCause::allocation && 2 * sum.host_memory_ns > sum.total_ns()) return kPinnedMemory;
  return row.advice;
}

std::optional<double> unless_zero(std::int64_t ns) {
  return ns > 0 ? std::optional(static_cast<double>(ns)) : std::nullopt;
}

/// "4 gaps, 204 ms in total, 51.0 ms each in the mean; 50.1 ms before the first work".
schema::Message extent_of(const IdleSum& sum) {
  return messages::idle_extent({.gaps = sum.gaps > 0 ? std::optional(sum.gaps) : std::nullopt,
                                .total = static_cast<double>(sum.gaps_ns),
                                .each = static_cast<double>(sum.gaps_ns / std::max<std::int64_t>(1, sum.gaps)),
                                .before = unless_zero(sum.before_ns),
                                .behind = unless_zero(sum.behind_ns)});
}

}  // namespace

void idle_rules(const Case& of) {
  const auto sums = sums_of(of);
  if (sums.empty()) return;
  const auto floor = floor_of(of.analysed);
  const auto& gpu = busiest(of.tables);
  const bool has_others = of.tables.devices.size() > 1;
  std::int64_t spans = 0;
  for (const auto& device : of.tables.devices) spans += device.span_ns;
  for (const auto& row : kAdvice) {
    const auto found = sums.find(row.cause);
    if (found == sums.end()) continue;
    const auto& sum = found->second;
    schema::ProfileFinding finding;
    const bool of_host = row.cause == IdleCause::host_work || row.cause == IdleCause::host_wait;
    for (const auto& [device, of_gpu] : sum.by_gpu)
      finding.saving_ns = std::max(finding.saving_ns, of_gpu.second - of_gpu.first * floor);
    if (has_others) finding.saving_ns = std::min(finding.saving_ns, gpu.span_ns - gpu.busy_ns);
    if (of_host) finding.saving_ns = std::min(finding.saving_ns, gpu.busy_ns);
    const auto share = static_cast<double>(sum.total_ns()) / static_cast<double>(spans);
    finding.title = row.title(share);
    finding.evidence.push_back(extent_of(sum));
    const auto lines = lines_of(sum);
    for (const auto& line : lines) finding.evidence.push_back(line.message);
    if (sum.counted_ns > 0)
      finding.evidence.push_back(messages::gaps_of_optimizer_apart(static_cast<double>(sum.counted_ns)));
    if (!lines.empty()) finding.module = lines.front().module;
    of.advise(finding, advice_of(row, sum));
    finding.computed = of_host ? messages::computed_host_work()
                               : messages::computed_gaps(
                                     {.several = has_others, .each = sum.gaps > 0 ? unless_zero(floor) : std::nullopt});
    // That the host does something else is worth a word where the GPU has little to do beside it, too.
    const bool is_told = of_host && share >= kLeastIdle && finding.saving_ns > 0;
    of.add(std::move(finding), is_told ? 0 : kLeastIdle);
  }
}

}  // namespace ridgeline::trace
