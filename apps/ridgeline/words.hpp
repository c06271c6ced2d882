// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/message_renderer.hpp"

namespace ridgeline::app {

/// What makes words of messages, by the catalogues of all modules.
[[nodiscard]] const schema::MessageRenderer& words();

}  // namespace ridgeline::app
