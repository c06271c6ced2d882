// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "schema/input_values.hpp"
#include "schema/model_description.hpp"

namespace ridgeline::workload {

/// What the user's --input NAME=VALUE means for an input of that type: a number, "ones", "zeros", or "LOW..HIGH".
/// Errors (invalid_argument): none of these, a number that the type does not have, LOW above HIGH.
[[nodiscard]] base::Result<schema::InputValues> read_given_value(const schema::GivenValue& given,
                                                                 const schema::TensorDescription& input);

struct WholeNumbers {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// The whole numbers of an integer type or bool; nullopt for other types.
[[nodiscard]] std::optional<WholeNumbers> whole_numbers_of(const std::string& element_type);

}  // namespace ridgeline::workload
