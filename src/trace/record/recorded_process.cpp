// SPDX-License-Identifier: Apache-2.0
#include "trace/record/recorded_process.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "trace/import/message_text.hpp"
#include "trace/record/fact_lines.hpp"

namespace ridgeline::trace {
namespace {

/// The value of that name; the first where there is none.
template <typename State, std::size_t kCount>
State state_of(std::string_view word, const std::array<std::pair<std::string_view, State>, kCount>& states) {
  const auto found = std::find_if(states.begin(), states.end(), [&](const auto& one) { return one.first == word; });
  return found == states.end() ? states.front().second : found->second;
}

RecordingState recording_state(std::string_view word) {
  using enum RecordingState;
  constexpr std::array<std::pair<std::string_view, RecordingState>, 5> kStates{{{"recording", recording},
                                                                                {"waiting", waiting},
                                                                                {"no_cupti", no_cupti},
                                                                                {"busy", busy},
                                                                                {"stopped_full", stopped_full}}};
  return state_of(word, kStates);
}

CountingState counting_state(std::string_view word) {
  using enum CountingState;
  constexpr std::array<std::pair<std::string_view, CountingState>, 10> kStates{{{"none", none},
                                                                                {"counted", counted},
                                                                                {"no_steps", no_steps},
                                                                                {"no_privilege", no_privilege},
                                                                                {"busy", busy},
                                                                                {"unsupported", unsupported},
                                                                                {"concurrent", concurrent},
                                                                                {"collectives", collectives},
                                                                                {"too_many", too_many},
                                                                                {"failed", failed}}};
  return state_of(word, kStates);
}

constexpr std::int64_t kMostDevices = 1'000;

std::int64_t count_of(std::string_view text) {
  return std::max<std::int64_t>(0, base::parse_integer(text, "facts").value_or(0));
}

}  // namespace

RecordedProcess read_facts(std::string_view text) {
  RecordedProcess out;
  each_fact(text, [&](std::string_view key, std::string_view value) {
    if (key == "pid") out.pid = count_of(value);
    if (key == "name") out.name = message_text(value);
    if (key == "state") out.state = recording_state(value);
    if (key == "why") out.why = message_text(value);
    if (key == "counters") out.counters = counting_state(value);
    if (key == "counters_why") out.counters_why = message_text(value);
    if (key == "dropped") out.dropped = count_of(value);
    if (key == "zero_time") out.zero_time = count_of(value);
    if (key == "lines") out.lines = count_of(value);
    if (key == "uses_cuda") out.uses_cuda = value != "0";
    if (key == "profiler_api") out.calls_profiler_api = value == "1";
    if (key == "bytes") out.bytes = count_of(value);
    if (key == "events") out.events = count_of(value);
    if (key == "full_of_events") out.full_of_events = value == "1";
    if (key == "begun_ns") out.begun_ns = count_of(value);
    if (key == "ended_ns") out.seen_ns = count_of(value);
    if (key == "recorded_steps") out.recorded_steps = count_of(value);
    if (key == "step_without_ns") out.step_without_ns = count_of(value);
    if (key == "step_with_ns") out.step_with_ns = count_of(value);
    if (key == "step_spread_ns") out.step_spread_ns = count_of(value);
    if (key == "device")
      if (const auto space = value.find(' '); space != std::string_view::npos)
        if (const auto id = base::parse_integer(value.substr(0, space), "facts"); id && *id >= 0 && *id < kMostDevices)
          out.devices[static_cast<std::int32_t>(*id)] = value.substr(space + 1);
    if (key == "finished") out.finished = value == "1";
  });
  return out;
}

std::vector<RecordedProcess> with_events(const std::vector<RecordedProcess>& processes) {
  std::vector<RecordedProcess> out;
  std::copy_if(processes.begin(), processes.end(), std::back_inserter(out),
               [](const auto& one) { return one.events > 0; });
  return out.empty() ? processes : out;
}

}  // namespace ridgeline::trace
