// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.hpp"
#include "base/json.hpp"

namespace ridgeline::schema {

/// One setting's value. Compares by type and value; JSON form is the plain scalar.
class Value {
 public:
  Value() : data_(std::int64_t{0}) {}
  Value(bool value) : data_(value) {}                      // NOLINT: a literal is a Value
  Value(int value) : data_(std::int64_t{value}) {}         // NOLINT
  Value(std::int64_t value) : data_(value) {}              // NOLINT
  Value(double value) : data_(value) {}                    // NOLINT
  Value(const char* value) : data_(std::string(value)) {}  // NOLINT
  Value(std::string value) : data_(std::move(value)) {}    // NOLINT

  [[nodiscard]] bool is_bool() const noexcept { return std::holds_alternative<bool>(data_); }
  [[nodiscard]] bool is_integer() const noexcept { return std::holds_alternative<std::int64_t>(data_); }
  [[nodiscard]] bool is_number() const noexcept { return is_integer() || std::holds_alternative<double>(data_); }
  [[nodiscard]] bool is_text() const noexcept { return std::holds_alternative<std::string>(data_); }

  /// The typed content, or `fallback` when it is of another type (an integer serves as a number).
  [[nodiscard]] bool as_bool(bool fallback = false) const noexcept;
  [[nodiscard]] std::int64_t as_integer(std::int64_t fallback = 0) const noexcept;
  [[nodiscard]] double as_number(double fallback = 0) const noexcept;
  [[nodiscard]] std::string_view as_text(std::string_view fallback = {}) const noexcept;

  /// "true", "8", "0.5", "all": what a person types and YAML holds. Doubles round-trip.
  [[nodiscard]] std::string to_text() const;

  friend bool operator==(const Value&, const Value&) = default;
  friend auto operator<=>(const Value&, const Value&) = default;

  friend void to_json(base::Json& out, const Value& value);
  friend void from_json(const base::Json& in, Value& value);

 private:
  std::variant<bool, std::int64_t, double, std::string> data_;
};

}  // namespace ridgeline::schema
