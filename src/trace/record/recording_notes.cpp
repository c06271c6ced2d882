// SPDX-License-Identifier: Apache-2.0
#include "trace/record/recording_notes.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kMostNamed = 8;     // processes
constexpr std::size_t kMostColumns = 60;  // of a command line

/// What exec made of a process is part of it, under its last name.
std::map<std::int64_t, std::string> names_of(const std::vector<RecordedProcess>& processes) {
  std::map<std::int64_t, std::string> out;
  for (const auto& one : processes)
    out[one.pid] = one.name.empty() ? std::to_string(one.pid)
                                    : fmt::format("{} ({})", base::shorten(one.name, kMostColumns), one.pid);
  return out;
}

std::vector<std::string> first_of(const std::map<std::int64_t, std::string>& names) {
  std::vector<std::string> out;
  for (const auto& [pid, name] : names)
    if (out.size() < kMostNamed) out.push_back(name);
  return out;
}

/// Its file could not be written further.
bool has_failed(const RecordedProcess& process) {
  return process.state == RecordingState::stopped_full && !process.why.empty();
}

std::int64_t count_if(const std::vector<RecordedProcess>& processes,
                      const std::function<bool(const RecordedProcess&)>& is) {
  std::set<std::int64_t> found;
  for (const auto& one : processes)
    if (is(one)) found.insert(one.pid);
  return std::ssize(found);
}

}  // namespace

void add_recording_notes(const std::vector<RecordedProcess>& processes, Trace& trace) {
  auto& notes = trace.notes;
  const auto names = names_of(with_events(processes));
  const auto all = std::ssize(names);
  if (all > 1)
    notes.push_back(messages::recorded_processes(
        {.count = all,
         .names = first_of(names),
         .more = all > std::int64_t{kMostNamed} ? std::optional(all - std::int64_t{kMostNamed}) : std::nullopt}));
  bool lacks_work = false;
  std::vector<std::string> reasons;
  for (const auto& one : processes) {
    if (one.state != RecordingState::no_cupti && one.state != RecordingState::busy) continue;
    lacks_work = true;
    auto reason = one.why.empty() ? std::string("another profiler may be at work") : one.why;
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(std::move(reason));
  }
  for (const auto& reason : reasons) notes.push_back(messages::recording_without_gpu(reason));
  std::int64_t dropped = 0;
  std::int64_t without_time = 0;
  for (const auto& one : processes) {
    dropped += one.dropped;
    without_time += one.zero_time;
  }
  if (dropped > 0) notes.push_back(messages::recording_dropped(dropped));
  if (without_time > 0) notes.push_back(messages::recording_without_time(without_time));
  lacks_work = lacks_work || dropped > 0;
  const auto asked = count_if(processes, [](const auto& one) { return one.uses_cuda && one.lines >= 0; });
  if (asked > 0 && count_if(processes, [](const auto& one) { return one.lines > 0; }) == 0)
    notes.push_back(messages::recording_without_lines());
  std::string why_unwritten;
  for (const auto& one : processes)
    if (has_failed(one)) why_unwritten = one.why;
  if (const auto unwritten = count_if(processes, has_failed))
    notes.push_back(messages::recording_unwritten({.count = unwritten, .why = why_unwritten}));
  const auto count_full = [&](bool of_events) {
    return count_if(processes, [=](const auto& one) {
      return one.state == RecordingState::stopped_full && !has_failed(one) && one.full_of_events == of_events;
    });
  };
  if (const auto full = count_full(false)) notes.push_back(messages::recording_full(full));
  if (const auto full = count_full(true)) notes.push_back(messages::recording_full_of_events(full));
  if (const auto cut = count_if(processes, [](const auto& one) { return !one.finished; }))
    notes.push_back(messages::recording_cut({.count = cut, .all = all}));
  if (!lacks_work || trace.lacks_work) return;
  trace.lacks_work = true;
  notes.push_back(messages::lacks_work());  // which a trace file keeps it by
}

}  // namespace ridgeline::trace
