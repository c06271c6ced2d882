// SPDX-License-Identifier: Apache-2.0
#include "schema/input_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ridgeline::schema {

RL_DEFINE_JSON(InputValues, name, low, high, high_per_batch, elements, per_batch, real, reason)
RL_DEFINE_JSON(GivenValue, name, text)

std::string values_text(const InputValues& values, std::int64_t batch) {
  if (values.real) return fmt::format("{:g}", *values.real);
  if (!values.elements.empty()) {
    auto elements = values.elements;
    for (std::size_t at = 0; at < elements.size() && at < values.per_batch.size(); ++at)
      elements[at] += values.per_batch[at] * batch;
    return fmt::format("{}", fmt::join(elements, ", "));
  }
  const auto high = values.high + values.high_per_batch * batch;
  return high == values.low ? std::to_string(high) : fmt::format("{}..{}", values.low, high);
}

}  // namespace ridgeline::schema
