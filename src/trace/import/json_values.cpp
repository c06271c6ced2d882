// SPDX-License-Identifier: Apache-2.0
#include "trace/import/json_values.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "trace/import/decimal_time.hpp"

namespace ridgeline::trace {
namespace {

namespace ondemand = simdjson::ondemand;

std::string_view trimmed(std::string_view token) {
  while (!token.empty() &&
         (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t'))
    token.remove_suffix(1);
  return token;
}

void read_process(ondemand::value& value, ChromeEvent& event) {
  if (const auto number = whole(value))
    event.process = *number;
  else
    read_text(value, event.process_name);
}

}  // namespace

std::optional<std::int64_t> whole(ondemand::value& value) {
  std::int64_t number = 0;
  if (value.get_int64().get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

std::optional<std::int64_t> whole_or_text(ondemand::value& value) {
  if (const auto number = whole(value)) return number;
  std::string_view text;
  std::int64_t number = 0;
  if (value.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> nanoseconds(ondemand::value& value) {
  ondemand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return std::nullopt;
  if (std::string_view text; type == ondemand::json_type::string && value.get_string().get(text) == simdjson::SUCCESS)
    return nanoseconds_of(trimmed(text));
  if (type != ondemand::json_type::number) return std::nullopt;
  const std::string_view token = value.raw_json_token();
  double skipped = 0;  // moves on
  if (value.get_double().get(skipped) != simdjson::SUCCESS) return std::nullopt;
  return nanoseconds_of(trimmed(token));
}

void read_text(ondemand::value& value, std::string_view& into) {
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS) into = text;
}

void read_field(std::string_view key, ondemand::value& value, ChromeEvent& event) {
  if (key == "name")
    read_text(value, event.name);
  else if (key == "cat")
    read_text(value, event.category);
  else if (key == "ph")
    read_text(value, event.phase);
  else if (key == "pid")
    read_process(value, event);
  else if (key == "tid")
    event.thread = whole(value).value_or(0);
  else if (key == "ts")
    event.start_ns = nanoseconds(value);
  else if (key == "dur")
    event.duration_ns = nanoseconds(value).value_or(-1);
}

std::vector<std::string> damage_notes(const JsonEvents& events, const EventParser& parser) {
  std::vector<std::string> notes;
  if (events.cut_off()) notes.push_back(fmt::format("the file is cut off: it ends after {} events", parser.seen()));
  if (const auto count = events.left_out() + parser.broken(); count > 0)
    notes.push_back(fmt::format("events that are no JSON, left out: {}", count));
  if (const auto count = events.put_right() + parser.put_right(); count > 0)
    notes.push_back(fmt::format("events with damaged JSON, put right: {}", count));
  if (const auto count = events.commas() + parser.commas(); count > 0)
    notes.push_back(fmt::format("commas between events, missing or too many, put right: {}", count));
  if (events.others_damaged())
    notes.emplace_back("damaged JSON before or behind the events: what it says of the GPU may be missing");
  if (events.lists() > 1)
    notes.push_back(
        fmt::format("lists of events (traceEvents): {} in one file, all read as one trace", events.lists()));
  if (events.bytes_behind() > 0)
    notes.push_back(fmt::format("{} bytes behind the end of the trace are not read{}", events.bytes_behind(),
                                events.json_behind() ? ": more JSON, such as a second trace; import it as a file of "
                                                       "its own"
                                                     : ""));
  return notes;
}

}  // namespace ridgeline::trace
