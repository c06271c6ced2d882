// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/given_values.hpp"

#include <cmath>
#include <limits>
#include <map>

#include "base/text.hpp"
#include "workload/messages.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using base::Result;

std::string expected_for(const schema::TensorDescription& input) {
  const auto limits = whole_numbers_of(input.element_type);
  if (input.element_type == "bool") return "0, 1, ones, zeros or 0..1";
  if (!limits) return "a number, ones, zeros or LOW..HIGH";
  return fmt::format("a whole number from {} to {}, ones, zeros or LOW..HIGH", limits->low, limits->high);
}

base::Fault refused(const schema::GivenValue& given, const schema::TensorDescription& input) {
  return base::fail(ErrorCode::invalid_argument, "--input {}={}: input \"{}\" is {}; expected {}", given.name,
                    given.text, given.name, input.element_type, expected_for(input))
      .hint("or a file: --input {}:FILE.npy", given.name);
}

}  // namespace

std::optional<WholeNumbers> whole_numbers_of(const std::string& element_type) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  static const std::map<std::string, WholeNumbers> kTypes{
      {"bool", {0, 1}},
      {"int4", {-8, 7}},
      {"uint4", {0, 15}},
      {"int8", {-128, 127}},
      {"uint8", {0, 255}},
      {"int16", {-32768, 32767}},
      {"uint16", {0, 65535}},
      {"int32", {-2147483648LL, 2147483647}},
      {"uint32", {0, 4294967295LL}},
      {"int64", {std::numeric_limits<std::int64_t>::min(), kMost}},
      {"uint64", {0, kMost}},
  };
  const auto found = kTypes.find(element_type);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

Result<schema::InputValues> read_given_value(const schema::GivenValue& given, const schema::TensorDescription& input) {
  schema::InputValues values;
  values.name = given.name;
  values.reason = messages::as_given();
  auto text = given.text;
  if (text == "ones" || text == "true") text = "1";
  if (text == "zeros" || text == "false") text = "0";
  const auto limits = whole_numbers_of(input.element_type);
  const auto fits = [&](std::int64_t value) { return !limits || (value >= limits->low && value <= limits->high); };
  if (const auto dots = text.find(".."); dots != std::string::npos) {
    const auto low = base::parse_integer(text.substr(0, dots), "--input");
    const auto high = base::parse_integer(text.substr(dots + 2), "--input");
    if (!low || !high || !fits(*low) || !fits(*high) || *low > *high) return refused(given, input);
    values.low = *low;
    values.high = *high;
    return values;
  }
  if (const auto whole = base::parse_integer(text, "--input"); whole && (limits || std::abs(*whole) < (1LL << 53))) {
    if (!fits(*whole)) return refused(given, input);
    if (limits)
      values.elements = {*whole};
    else
      values.real = static_cast<double>(*whole);
    return values;
  }
  const auto number = base::parse_number(text, "--input");
  if (!number || limits || !std::isfinite(*number)) return refused(given, input);
  values.real = *number;
  return values;
}

}  // namespace ridgeline::workload
