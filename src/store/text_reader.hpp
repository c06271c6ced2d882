// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "schema/message.hpp"

namespace ridgeline::store {

/// Which message a text is that an older version recorded (schema::kLegacy): that one itself where nobody knows. The
/// store knows no catalogues.
using TextReader = std::function<schema::Message(const schema::Message& legacy)>;

}  // namespace ridgeline::store
