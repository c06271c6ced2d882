// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.hpp"

namespace ridgeline::schema {

/// A number in its unit, with the decimals of those that it is shown beside.
struct Quantity {
  double value = 0;  ///< in `unit`; not finite: not known
  std::string unit;  ///< "ms", "items/s"; "": none
  int decimals = 2;
};

void to_json(base::Json& json, const Quantity& quantity);
void from_json(const base::Json& json, Quantity& quantity);

}  // namespace ridgeline::schema
