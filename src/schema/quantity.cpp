// SPDX-License-Identifier: Apache-2.0
#include "schema/quantity.hpp"

#include <cmath>
#include <limits>

namespace ridgeline::schema {

void to_json(base::Json& json, const Quantity& quantity) {
  json = {{"value", nullptr}, {"unit", quantity.unit}, {"decimals", quantity.decimals}};
  if (std::isfinite(quantity.value)) json["value"] = quantity.value;
}

void from_json(const base::Json& json, Quantity& quantity) {
  const auto& value = json.at("value");
  quantity.value = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  quantity.unit = json.at("unit").get<std::string>();
  quantity.decimals = json.at("decimals").get<int>();
}

}  // namespace ridgeline::schema
