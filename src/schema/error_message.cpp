// SPDX-License-Identifier: Apache-2.0
#include "schema/error_message.hpp"

#include "schema/messages.hpp"

namespace ridgeline::schema {

Message error_message(const base::Error& error) {
  return messages::failed({.words = error.message, .hint = error.hint});
}

}  // namespace ridgeline::schema
