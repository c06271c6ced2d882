// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/message_template.hpp"

namespace ridgeline::schema {

/// Makes words of messages: the only place where a sentence of a catalogue is filled in.
class MessageRenderer {
 public:
  /// What is done to each sentence once it is filled in, those within others too; none: nothing. The pseudo-locale of
  /// the tests puts brackets around it.
  using Decorator = std::function<std::string(std::string)>;

  /// The tables outlive it. Of two rows of one code the later counts: a translation replaces what it has.
  explicit MessageRenderer(std::span<const MessageTable> tables, Decorator decorate = {});

  /// One line; "" of an empty message. A code of a newer version is shown with its arguments.
  [[nodiscard]] std::string text(const Message& message) const;
  /// What to do about it; "" where the catalogue advises nothing.
  [[nodiscard]] std::string hint(const Message& message) const;
  /// "text; hint".
  [[nodiscard]] std::string line(const Message& message) const;
  [[nodiscard]] std::vector<std::string> texts(const std::vector<Message>& messages) const;

  /// The row of a code; nullptr: there is none.
  [[nodiscard]] const MessageTemplate* find(std::string_view code) const;
  [[nodiscard]] const std::map<std::string_view, const MessageTemplate*>& rows() const noexcept { return rows_; }

 private:
  std::map<std::string_view, const MessageTemplate*> rows_;
  Decorator decorate_;
};

/// {"text": "...", "hint": "...", "code", "arguments", "severity"}: a message as the program's JSON has it; null of an
/// empty one. `hint` only where there is one.
[[nodiscard]] base::Json message_json(const MessageRenderer& renderer, const Message& message);

/// Of a record: each message in it as message_json has it.
[[nodiscard]] base::Json with_words(const MessageRenderer& renderer, base::Json json);

}  // namespace ridgeline::schema
