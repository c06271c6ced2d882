// SPDX-License-Identifier: Apache-2.0
#include "schema/value.hpp"

namespace ridgeline::schema {

bool Value::as_bool(bool fallback) const noexcept {
  const auto* held = std::get_if<bool>(&data_);
  return held != nullptr ? *held : fallback;
}

std::int64_t Value::as_integer(std::int64_t fallback) const noexcept {
  const auto* held = std::get_if<std::int64_t>(&data_);
  return held != nullptr ? *held : fallback;
}

double Value::as_number(double fallback) const noexcept {
  if (const auto* held = std::get_if<double>(&data_)) return *held;
  if (const auto* held = std::get_if<std::int64_t>(&data_)) return static_cast<double>(*held);
  return fallback;
}

std::string_view Value::as_text(std::string_view fallback) const noexcept {
  const auto* held = std::get_if<std::string>(&data_);
  return held != nullptr ? std::string_view(*held) : fallback;
}

std::string Value::to_text() const {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>)
          return held;
        else
          return fmt::format("{}", held);
      },
      data_);
}

void to_json(base::Json& out, const Value& value) {
  std::visit([&](const auto& held) { out = held; }, value.data_);
}

void from_json(const base::Json& in, Value& value) {
  if (in.is_boolean())
    value.data_ = in.get<bool>();
  else if (in.is_number_integer())
    value.data_ = in.get<std::int64_t>();
  else if (in.is_number())
    value.data_ = in.get<double>();
  else if (in.is_string())
    value.data_ = in.get<std::string>();
  else
    throw std::invalid_argument("a setting must be a scalar, not " + std::string(in.type_name()));
}

}  // namespace ridgeline::schema
