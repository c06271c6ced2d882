// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "trace/import/json_damage.hpp"
#include "trace/import/json_events.hpp"

namespace ridgeline::trace {

/// A whole number; numbers with decimals, text and the rest give nothing.
[[nodiscard]] std::optional<std::int64_t> whole(simdjson::ondemand::value& value);
/// The same where it may stand in a string: "49152".
[[nodiscard]] std::optional<std::int64_t> whole_or_text(simdjson::ondemand::value& value);
/// A number of microseconds (nanoseconds_of).
[[nodiscard]] std::optional<std::int64_t> nanoseconds(simdjson::ondemand::value& value);

/// What every event of Chrome's form has, as far as it is there. Text is valid while the event is read.
struct ChromeEvent {
  std::string_view name;
  std::string_view category;  ///< "cat"
  std::string_view phase;     ///< "ph"
  std::int64_t process = 0;
  std::string_view process_name;  ///< where "pid" is a text
  std::int64_t thread = 0;
  std::optional<std::int64_t> start_ns;
  std::int64_t duration_ns = 0;  ///< negative: none that can be
};

/// `into` stays as it is where the value is no text.
void read_text(simdjson::ondemand::value& value, std::string_view& into);
/// Of a field other than "args"; others are left alone.
void read_field(std::string_view key, simdjson::ondemand::value& value, ChromeEvent& event);

/// Reads an event; `argument` is called for each of its "args" with the key and the value. False where the text is no
/// JSON from here on.
template <typename Argument>
bool read_event(simdjson::ondemand::object& object, ChromeEvent& event, Argument argument) {
  const auto entries = [](simdjson::ondemand::object& fields, auto take) {
    for (auto field : fields) {
      std::string_view key;
      simdjson::ondemand::value value;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS || field.value().get(value) != simdjson::SUCCESS)
        return false;
      take(key, value);
    }
    return true;
  };
  bool are_json = true;
  const bool is_json = entries(object, [&](std::string_view key, simdjson::ondemand::value& value) {
    if (key != "args") return read_field(key, value, event);
    simdjson::ondemand::object arguments;
    if (value.get_object().get(arguments) == simdjson::SUCCESS && !entries(arguments, argument)) are_json = false;
  });
  return is_json && are_json;
}

/// Gives the events of a file's batches to a reader.
class EventParser {
 public:
  /// `batch`: an array with JsonEvents::padding() behind it. `read` takes an event and says whether it was JSON to its
  /// end; only then `add` is called. Where the batch is not JSON throughout, its events are read one by
  /// one, so that one of them takes no other away; what can be put right in one is (mended).
  template <typename Read, typename Add>
  void parse(std::string_view batch, Read read, Add add) {
    const auto before = seen_;
    if (parse_array(batch, read, add)) return;
    auto done = seen_ - before;
    for (std::size_t at = 0, behind = 0;;) {
      const auto object = JsonEvents::next_object(batch, at);
      if (object.empty()) return;
      const auto begin = at - object.size();
      if (!is_separator(batch.substr(behind, begin - behind))) ++commas_;
      behind = at;
      if (done > 0) {
        --done;
        continue;
      }
      if (parse_one(object, read, add)) continue;
      if (parse_one(mended(object), read, add)) {
        ++mended_;
        continue;
      }
      ++broken_;
      // It may have swallowed others: a quote is missing in it.
      if (const auto next = next_event(object, 1); next != std::string_view::npos) at = behind = begin + next;
    }
  }

  [[nodiscard]] std::size_t seen() const noexcept { return seen_; }
  [[nodiscard]] std::size_t broken() const noexcept { return broken_; }  ///< events that are no JSON
  /// Events that are JSON once they are mended.
  [[nodiscard]] std::size_t put_right() const noexcept { return mended_; }
  [[nodiscard]] std::size_t commas() const noexcept { return commas_; }  ///< between events, missing or too many

 private:
  template <typename Read, typename Add>
  bool parse_one(std::string_view object, Read& read, Add& add) {
    one_.assign(1, '[').append(object).append(1, ']').append(JsonEvents::padding(), ' ');
    return parse_array(std::string_view(one_).substr(0, object.size() + 2), read, add);
  }

  /// False from where it is no JSON on; what lies before was read.
  template <typename Read, typename Add>
  bool parse_array(std::string_view text, Read& read, Add& add) {
    simdjson::ondemand::document document;
    simdjson::ondemand::array events;
    if (parser_.iterate(text.data(), text.size(), text.size() + JsonEvents::padding()).get(document) !=
            simdjson::SUCCESS ||
        document.get_array().get(events) != simdjson::SUCCESS)
      return false;
    for (auto element : events) {
      simdjson::ondemand::object object;
      const auto kind = element.get_object().get(object);
      if (kind == simdjson::INCORRECT_TYPE) continue;
      if (kind != simdjson::SUCCESS || !read(object)) return false;
      if (!document.is_alive()) return false;  // iterators end early where it is no JSON
      add();
      ++seen_;
    }
    return document.is_alive() && document.current_location().error() == simdjson::OUT_OF_BOUNDS;
  }

  simdjson::ondemand::parser parser_;
  std::string one_;
  std::size_t seen_ = 0;
  std::size_t broken_ = 0;
  std::size_t mended_ = 0;
  std::size_t commas_ = 0;
};

/// Where a file was cut off, how many of its events are damaged, and what of it was not read.
[[nodiscard]] std::vector<schema::Message> damage_notes(const JsonEvents& events, const EventParser& parser);

}  // namespace ridgeline::trace
