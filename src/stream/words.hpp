// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schema/message_renderer.hpp"
#include "stream/messages.hpp"

namespace ridgeline::stream {

/// Of a message of this module, for an error that repeats it.
[[nodiscard]] inline std::string words_of(const schema::Message& message) {
  return schema::text_of(message, messages::table());
}

}  // namespace ridgeline::stream
