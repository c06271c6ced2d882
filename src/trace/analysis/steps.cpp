// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

#include "trace/analysis/range_names.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kLeastSteps = 3;

/// "iteration 17" without its number: "iteration". The name itself where it has none at its end.
std::string_view unnumbered(std::string_view name) {
  auto end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  if (end == name.size()) return name;
  while (end > 0 && std::string_view(" #_-:/=(").find(name[end - 1]) != std::string_view::npos) --end;
  return end == 0 ? name : name.substr(0, end);
}

/// Such a range is one of many also within another: "step 3" of "main". Of others nobody knows whether they are parts
/// of a step, as "layer 3" of "forward" is.
bool names_step(std::string_view unnumbered) {
  constexpr std::array<std::string_view, 9> kWords{"step",  "iter",    "iteration", "batch", "epoch",
                                                   "frame", "request", "sample",    "image"};
  const auto begin = unnumbered.find_last_of(" _-./");
  auto word = std::string(begin == std::string_view::npos ? unnumbered : unnumbered.substr(begin + 1));
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

using Group = std::pair<LaneId, std::string>;

/// The group of ranges with the longest sum; empty where none has enough.
const std::vector<Place>* longest(const Trace& trace, const std::map<Group, std::vector<Place>>& groups,
                                  std::size_t least, std::string& name) {
  const std::vector<Place>* best = nullptr;
  std::int64_t best_ns = -1;
  for (const auto& [group, places] : groups) {
    if (places.size() < least) continue;
    std::int64_t sum = 0;
    for (const auto place : places) sum += trace.ranges.duration_ns[place];
    if (sum <= best_ns) continue;
    best = &places;
    best_ns = sum;
    name = group.second;
  }
  return best;
}

}  // namespace

Place Steps::at(std::int64_t time_ns) const {
  const auto after = std::upper_bound(steps.begin(), steps.end(), time_ns,
                                      [](auto time, const auto& step) { return time < step.start_ns; });
  if (after == steps.begin() || (after - 1)->end_ns <= time_ns) return kNowhere;
  return static_cast<Place>(after - steps.begin() - 1);
}

Steps find_steps(const Trace& trace, const Nesting& nesting) {
  const auto& ranges = trace.ranges;
  std::map<Group, std::vector<Place>> own;
  std::map<Group, std::vector<Place>> numbered;
  std::map<Group, std::vector<Place>> runs;
  std::map<Group, std::vector<Place>> modules;
  bool has_backward = false;
  // What is enclosed by an annotation, by a module.
  std::vector<bool> annotated(ranges.size());
  std::vector<bool> in_module(ranges.size());
  for (const auto place : nesting.range_order) {
    const auto kind = ranges.kind[place];
    const auto parent = nesting.parent_of_range[place];
    const auto name = trace.strings.text(ranges.name[place]);
    const bool is_own = kind == RangeKind::annotation && is_profiler_step(name);
    const bool is_module = kind == RangeKind::python && (is_module_call(name) || is_session_run(name));
    const bool below_annotation = parent != kNowhere && annotated[parent];
    const bool below_module = parent != kNowhere && in_module[parent];
    annotated[place] = below_annotation || (kind == RangeKind::annotation && !is_own);
    in_module[place] = below_module || is_module;
    has_backward = has_backward || is_backward(trace, place);
    const Group group{ranges.lane[place], std::string(unnumbered(name))};
    if (is_own)
      own[group].push_back(place);
    else if (kind == RangeKind::annotation && name == kModelRun)
      runs[{LaneId{0}, group.second}].push_back(place);
    else if (kind == RangeKind::annotation && group.second.size() < name.size() &&
             (!below_annotation || names_step(group.second)))
      numbered[group].push_back(place);
    else if (is_module && !below_module)
      modules[{ranges.lane[place], std::string(module_name(name))}].push_back(place);
  }
  Steps out;
  const auto* found = longest(trace, own, 1, out.name);
  if (found == nullptr) found = longest(trace, numbered, kLeastSteps, out.name);
  out.numbered = found != nullptr;
  if (found == nullptr) found = longest(trace, runs, 1, out.name);
  if (found == nullptr && !has_backward) found = longest(trace, modules, kLeastSteps, out.name);
  if (found == nullptr) return {};
  for (const auto place : *found)
    out.steps.push_back({place, ranges.start_ns[place], ranges.start_ns[place] + ranges.duration_ns[place]});
  std::stable_sort(out.steps.begin(), out.steps.end(),
                   [](const auto& one, const auto& other) { return one.start_ns < other.start_ns; });
  std::map<LaneId, Step*> before;  // of a thread
  for (auto& step : out.steps) {
    auto& last = before[ranges.lane[step.range]];
    if (last != nullptr) last->end_ns = std::min(last->end_ns, step.start_ns);
    last = &step;
  }
  return out;
}

std::vector<Place> steps_of_nodes(const Trace& trace, const Steps& steps) {
  const auto& nodes = trace.nodes;
  std::vector<Place> out(nodes.size(), kNowhere);
  if (nodes.size() == 0) return out;
  std::map<LaneId, std::vector<Place>> of_thread;
  for (std::size_t i = 0; i < steps.steps.size(); ++i)
    of_thread[trace.ranges.lane[steps.steps[i].range]].push_back(static_cast<Place>(i));
  // A node of less than a microsecond may begin where its run ends.
  const auto at = [&](const std::vector<Place>& places, std::size_t node) {
    const auto start = nodes.start_ns[node];
    const auto after = std::upper_bound(places.begin(), places.end(), start,
                                        [&](auto time, auto step) { return time < steps.steps[step].start_ns; });
    if (after == places.begin()) return kNowhere;
    const auto end = steps.steps[*(after - 1)].end_ns;
    return start < end || (start == end && nodes.duration_ns[node] == 0) ? *(after - 1) : kNowhere;
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (const auto own = of_thread.find(nodes.lane[i]); own != of_thread.end()) out[i] = at(own->second, i);
    if (out[i] != kNowhere) continue;
    for (const auto& [lane, places] : of_thread)
      if (const auto step = at(places, i); step != kNowhere && (out[i] == kNowhere || step > out[i])) out[i] = step;
  }
  return out;
}

}  // namespace ridgeline::trace
