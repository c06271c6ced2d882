// SPDX-License-Identifier: Apache-2.0
#include "schema/message_shape.hpp"

#include <cctype>

namespace ridgeline::schema {
namespace {

std::string without_digits(const std::string& text) {
  std::string shape;
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit)
      shape += c;
    else if (shape.empty() || shape.back() != '#')
      shape += '#';
  }
  return shape;
}

void blank(base::Json& value) {
  if (value.is_number())
    value = "#";
  else if (value.is_string())
    value = without_digits(value.get_ref<const std::string&>());
  else if (value.is_structured())
    for (auto& item : value) blank(item);
}

}  // namespace

base::Json shape_of(const Message& message) {
  base::Json shape = message;
  if (shape.is_object()) blank(shape["arguments"]);
  return shape;
}

}  // namespace ridgeline::schema
