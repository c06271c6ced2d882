// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/message.hpp"

namespace ridgeline::schema {

/// What the values of one generated input are, and why. One of `elements`, `real` and the range holds.
struct InputValues {
  std::string name;
  std::int64_t low = 0;                 ///< uniform integers in the closed range from low
  std::int64_t high = 0;                ///< to high, at a batch of 0
  std::int64_t high_per_batch = 0;      ///< what each item of the batch adds to high
  std::vector<std::int64_t> elements;   ///< the values in order, or one for all; at a batch of 0
  std::vector<std::int64_t> per_batch;  ///< what each item of the batch adds to them; empty: nothing
  std::optional<double> real;           ///< one floating-point value for all
  Message reason;                       ///< "indices of 30522 rows (Gather ...)". No identity
  friend bool operator==(const InputValues&, const InputValues&) = default;
};
RL_DECLARE_JSON(InputValues)

/// "0..30521", "128", "1, 64", "0.5": what `values` come to with that batch.
[[nodiscard]] std::string values_text(const InputValues& values, std::int64_t batch);

/// Values that the user gives an input, as typed: "16000", "ones", "zeros", "0..30521".
struct GivenValue {
  std::string name;
  std::string text;
  friend bool operator==(const GivenValue&, const GivenValue&) = default;
};
RL_DECLARE_JSON(GivenValue)

}  // namespace ridgeline::schema
