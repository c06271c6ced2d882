// SPDX-License-Identifier: Apache-2.0
#include "trace/import/json_values.hpp"

#include <algorithm>
#include <charconv>

#include "trace/import/decimal_time.hpp"
#include "trace/messages.hpp"

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

std::vector<schema::Message> damage_notes(const JsonEvents& events, const EventParser& parser) {
  std::vector<schema::Message> notes;
  const auto add_counted = [&](schema::Message (*note)(std::int64_t), auto count) {
    if (count > 0) notes.push_back(note(static_cast<std::int64_t>(count)));
  };
  if (events.cut_off()) notes.push_back(messages::cut_off(static_cast<std::int64_t>(parser.seen())));
  add_counted(messages::events_no_json, events.left_out() + parser.broken());
  add_counted(messages::events_put_right, events.put_right() + parser.put_right());
  add_counted(messages::commas_put_right, events.commas() + parser.commas());
  if (events.others_damaged()) notes.push_back(messages::damage_around_events());
  if (events.lists() > 1) notes.push_back(messages::several_lists(static_cast<std::int64_t>(events.lists())));
  if (events.bytes_behind() > 0)
    notes.push_back(messages::bytes_behind(
        {.bytes = static_cast<std::int64_t>(events.bytes_behind()), .more_json = events.json_behind()}));
  return notes;
}

}  // namespace ridgeline::trace
