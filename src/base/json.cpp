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

void require_object(const Json& json) {
  if (!json.is_object()) throw std::invalid_argument(std::string("expected an object, got ") + json.type_name());
}

std::string dump_json(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace ridgeline::base
