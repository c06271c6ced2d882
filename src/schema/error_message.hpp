// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "schema/message.hpp"

namespace ridgeline::schema {

/// An error that is recorded: its words, and what it advises, as they are.
[[nodiscard]] Message message_of(const base::Error& error);

}  // namespace ridgeline::schema
