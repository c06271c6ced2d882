// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "schema/message.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::app {

/// RIDGELINE_LANGUAGE=pseudo puts brackets, ⟦ and ⟧, around each sentence of a catalogue: what has none cannot be
/// translated.
inline constexpr const char* kLanguageVariable = "RIDGELINE_LANGUAGE";

/// Of the environment. Errors: invalid_argument (a language that there is not).
[[nodiscard]] base::Result<void> check_language();

/// What makes words of messages, by the catalogues of all modules.
[[nodiscard]] const schema::MessageRenderer& words();

/// Finds the message that an older version recorded as text.
[[nodiscard]] schema::Message read_text(const schema::Message& legacy);

}  // namespace ridgeline::app
