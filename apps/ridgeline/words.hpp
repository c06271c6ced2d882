// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/message.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::app {

/// What makes words of messages, by the catalogues of all modules.
[[nodiscard]] const schema::MessageRenderer& words();

/// Finds the message that an older version recorded as text, by all catalogues but doctor's, which records nothing.
[[nodiscard]] schema::Message read_text(const schema::Message& legacy);

}  // namespace ridgeline::app
