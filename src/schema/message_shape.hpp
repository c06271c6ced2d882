// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/message.hpp"

namespace ridgeline::schema {

/// The message with every number blanked, also those in texts: equal of one sentence with other figures.
[[nodiscard]] base::Json shape_of(const Message& message);

}  // namespace ridgeline::schema
