// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "store/sqlite.hpp"
#include "store/text_reader.hpp"

namespace ridgeline::store {

/// Schema 5: what older versions recorded in words becomes messages. Records that cannot be read stay as they are,
/// which loading them reports. Without a reader every text is schema::kLegacy.
[[nodiscard]] base::Result<void> move_texts_to_messages(const Connection& connection, const TextReader& reader);

}  // namespace ridgeline::store
