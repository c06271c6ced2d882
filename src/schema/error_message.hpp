// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "schema/message.hpp"

namespace ridgeline::schema {

/// An error that a record keeps: its words and its hint are those of whoever failed.
[[nodiscard]] Message error_message(const base::Error& error);

}  // namespace ridgeline::schema
