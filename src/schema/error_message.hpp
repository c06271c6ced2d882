// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "schema/message.hpp"

namespace ridgeline::schema {

/// An error that is recorded: its words, and what it advises, as they are.
[[nodiscard]] Message message_of(const base::Error& error);

/// Of this module's catalogue: the words, and the error that it is.
[[nodiscard]] std::string own_text(const Message& message);
[[nodiscard]] base::Error error_of(base::ErrorCode code, const Message& message);

}  // namespace ridgeline::schema
