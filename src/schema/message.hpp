// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"

namespace ridgeline::schema {

enum class Severity {
  note,     ///< what someone may want to know
  warning,  ///< what costs speed, or makes a result less sure
  error,    ///< what ended something
};

/// Something that Ridgeline says, as data: a sentence of a catalogue (src/<module>/messages.json) by its code, and the
/// values that fill it in. Records hold messages, never the words: MessageRenderer makes these when they are
/// shown. Only the constructors that the build makes of the catalogues, and JSON, make one that is not empty.
class Message {
 public:
  Message() = default;

  /// "search.one_core"; "" of an empty message, which says nothing.
  [[nodiscard]] const std::string& code() const noexcept { return code_; }
  /// An object; durations in ns, sizes in bytes, shares from 0 to 1. A message among them is an object with a `code`.
  [[nodiscard]] const base::Json& arguments() const noexcept { return arguments_; }
  [[nodiscard]] Severity severity() const noexcept { return severity_; }
  [[nodiscard]] bool empty() const noexcept { return code_.empty(); }
  /// Whether it is that sentence: code branches on codes, never on words.
  [[nodiscard]] bool is(std::string_view code) const noexcept { return code_ == code; }

  [[nodiscard]] bool operator==(const Message&) const = default;

 private:
  friend class MessageMaker;
  friend void from_json(const base::Json& json, Message& message);

  std::string code_;
  base::Json arguments_ = base::Json::object();
  Severity severity_ = Severity::note;
};

/// {"code", "arguments", "severity"}; an empty one is null.
void to_json(base::Json& json, const Message& message);
/// Also a text, as older records have it: kLegacy, or nothing where it is "".
void from_json(const base::Json& json, Message& message);

/// The code of a text that an older version recorded; its argument `text` is that text.
inline constexpr std::string_view kLegacy = "schema.legacy";

}  // namespace ridgeline::schema

template <>
struct ridgeline::base::EnumNames<ridgeline::schema::Severity> {
  using enum schema::Severity;
  static constexpr std::array names{std::pair{note, "note"}, std::pair{warning, "warning"}, std::pair{error, "error"}};
};
