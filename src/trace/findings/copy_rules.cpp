// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "trace/analysis/device_time.hpp"
#include "trace/findings/copy_advice.hpp"
#include "trace/findings/rules.hpp"
#include "trace/findings/tally.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr double kLeastExposed = 0.03;  // of the time

constexpr Advice kExposed{&messages::advice_copy_ahead,
                          "with torch.cuda.stream(copies): following = following.to(\"cuda\", non_blocking=True)",
                          &messages::advice_bind_or_copy_less, kBinding};

std::string_view way_of(std::string_view name) {
  for (const std::string_view way : {"HtoD", "DtoH"})
    if (name.find(way) != std::string_view::npos) return way;
  return {};
}

struct HostCopies {
  explicit HostCopies(const StringTable& strings) : all(strings) {}
  std::map<ProcessDevice, Intervals> spans;
  Tally all;  ///< what each took, as what it costs
};

ProcessDevice device_of(const Trace& trace, const Spans& work, std::size_t i) {
  const auto& lane = trace.gpu_lanes[work.lane[i]];
  return {lane.process, lane.device};
}

/// The time in which one of them ran and no kernel of the same GPU; of the GPU with most of it.
std::int64_t exposed_ns(const Trace& trace, const HostCopies& copies) {
  std::map<ProcessDevice, Intervals> kernels;
  for (std::size_t i = 0; i < trace.kernels.size(); ++i)
    kernels[device_of(trace, trace.kernels, i)].emplace_back(trace.kernels.start_ns[i],
                                                             trace.kernels.start_ns[i] + trace.kernels.duration_ns[i]);
  std::int64_t most = 0;
  for (const auto& [device, spans] : copies.spans) {
    auto& all = kernels[device];
    const auto busy = measure_of_union(all);
    all.insert(all.end(), spans.begin(), spans.end());
    most = std::max(most, measure_of_union(all) - busy);
  }
  return most;
}

void tell_copies(const Case& of, HostCopies& copies, bool pageable) {
  if (copies.all.count() == 0) return;
  std::int64_t took = 0;
  for (auto& [device, spans] : copies.spans) took += measure_of_union(spans);
  schema::ProfileFinding finding;
  copies.all.tell(finding);
  of.advise(finding, pageable ? kPinMemory : kExposed);
  finding.saving_ns = exposed_ns(of.analysed.trace, copies);
  finding.title = (pageable ? messages::pageable_copy : messages::exposed_copy)(static_cast<double>(finding.saving_ns));
  finding.computed = messages::computed_copies();
  if (const auto bytes = copies.all.bytes(); bytes > 0)
    finding.evidence.push_back(
        messages::copied_bytes({.bytes = bytes,
                                .time = static_cast<double>(took),
                                .gb_per_s = bytes / static_cast<double>(std::max<std::int64_t>(1, took))}));
  of.add(std::move(finding), pageable ? kLeastSaving : kLeastExposed);
}

}  // namespace

void copy_rules(const Case& of) {
  const auto& trace = of.analysed.trace;
  HostCopies pageable(trace.strings);
  HostCopies others(trace.strings);
  for (std::size_t i = 0; i < trace.copies.size(); ++i) {
    const auto name = trace.strings.text(trace.copies.name[i]);
    if (way_of(name).empty()) continue;
    auto& into = name.find("ageable") == std::string_view::npos ? others : pageable;
    into.spans[device_of(trace, trace.copies, i)].emplace_back(trace.copies.start_ns[i],
                                                               trace.copies.start_ns[i] + trace.copies.duration_ns[i]);
    const auto took = trace.copies.duration_ns[i];
    into.all.add(module_of_work(of.analysed, of.analysed.copies.row[i]), took, took, device_of(trace, trace.copies, i));
    into.all.add_row(trace.copies.name[i], took);
    into.all.add_line(of.analysed.lines.of_call(of.analysed.copies.call[i]));
    into.all.add_bytes(static_cast<double>(trace.copies.bytes[i]));
  }
  tell_copies(of, pageable, true);
  tell_copies(of, others, false);
}

}  // namespace ridgeline::trace
