// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

namespace ridgeline::base {

Result<Json> parse_json(std::string_view text, std::string_view what) {
  try {
    return Json::parse(text);
  } catch (const std::exception& error) {
    return fail(ErrorCode::corrupt, "{} is not valid JSON: {}", what, error.what());
  }
}

// What the library itself throws, by a conversion that is not made.
void require_object(const Json& json) {
  if (!json.is_object()) static_cast<void>(json.get<Json::object_t>());
}
void require_array(const Json& json) {
  if (!json.is_array()) static_cast<void>(json.get<Json::array_t>());
}

std::string dump_json(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace ridgeline::base
