// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/json.hpp"
#include "schema/message.hpp"

namespace ridgeline::fakes {

/// All messages of a record, those within others too.
inline std::vector<schema::Message> messages_in(const base::Json& json) {
  std::vector<schema::Message> found;
  if (json.is_object() && json.contains("code") && json.contains("arguments") && json.contains("severity"))
    found.push_back(json.get<schema::Message>());
  if (json.is_structured())
    for (const auto& item : json)
      for (auto& message : messages_in(item)) found.push_back(std::move(message));
  return found;
}

}  // namespace ridgeline::fakes
