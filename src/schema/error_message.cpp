// SPDX-License-Identifier: Apache-2.0
#include "schema/error_message.hpp"

#include <algorithm>

#include "schema/messages.hpp"

namespace ridgeline::schema {

Message message_of(const base::Error& error) {
  auto words = error.message;
  std::replace(words.begin(), words.end(), '\n', ' ');
  return messages::reported_error({.words = std::move(words), .hint = error.hint});
}

}  // namespace ridgeline::schema
