// SPDX-License-Identifier: Apache-2.0
#include "schema/error_message.hpp"

#include <algorithm>

#include "schema/message_renderer.hpp"
#include "schema/messages.hpp"

namespace ridgeline::schema {

Message message_of(const base::Error& error) {
  auto words = error.message;
  std::replace(words.begin(), words.end(), '\n', ' ');
  return messages::reported_error({.words = std::move(words), .hint = error.hint});
}

std::string own_text(const Message& message) { return text_of(message, messages::table()); }

base::Error error_of(base::ErrorCode code, const Message& message) {
  const auto table = messages::table();
  const MessageRenderer renderer(std::span(&table, 1));
  return {code, renderer.text(message), renderer.hint(message)};
}

}  // namespace ridgeline::schema
