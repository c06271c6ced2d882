// SPDX-License-Identifier: Apache-2.0
#include "store/record_json.hpp"

#include <cmath>
#include <limits>

namespace ridgeline::store {
namespace {

void clamp_infinities(base::Json& json) {
  if (json.is_number_float()) {
    const auto value = json.get<double>();
    if (std::isinf(value)) json = std::copysign(std::numeric_limits<double>::max(), value);
  } else if (json.is_structured()) {
    for (auto& child : json) clamp_infinities(child);
  }
}

void drop_nulls(base::Json& json) {
  if (json.is_object()) {
    for (auto it = json.begin(); it != json.end();) {
      if (it->is_null())
        it = json.erase(it);
      else
        drop_nulls(*it++);
    }
  } else if (json.is_array()) {
    for (auto& child : json) drop_nulls(child);
  }
}

}  // namespace

std::string dump_record(base::Json record) {
  clamp_infinities(record);
  return base::dump_json(record);
}

base::Result<base::Json> parse_record(std::string_view text, std::string_view what) {
  RL_TRY_ASSIGN(auto json, base::parse_json(text, what));
  drop_nulls(json);
  return json;
}

}  // namespace ridgeline::store
