// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ridgeline::schema {

/// An input or output of an ONNX operator.
struct Operand {
  bool is_given = true;                             ///< false: an optional one that was left out
  std::optional<std::vector<std::int64_t>> dims{};  ///< nullopt: unknown
};

using OperatorAttribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>;

/// One run of an ONNX operator, as far as its cost depends on it.
struct OperatorCall {
  std::string_view name;  ///< "Conv", "com.microsoft.Gelu"
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  /// Of those that are set; nullopt: none are known, as in a profile. Then operators that need one are not counted.
  std::optional<std::map<std::string, OperatorAttribute, std::less<>>> attributes{};
};

enum class FlopKnowledge {
  counted,        ///< by formula, or known to be free of arithmetic
  unknown_shape,  ///< there is a formula, but a shape or an attribute that it needs is not known
  no_formula,     ///< the operator is not in the table
};

struct FlopCount {
  FlopKnowledge knowledge = FlopKnowledge::no_formula;
  double flops = 0;  ///< of one run of the operator
};

/// Arithmetic operations of one run of an operator, integer ones included. A multiplication and an addition count as
/// two; a comparison, exponential, logarithm, square root or tanh counts as one. Moving, selecting and converting
/// elements counts as none. The formulas follow the operators' definitions in the ONNX specification
/// (docs/Operators.md, ContribOperators.md for com.microsoft) and are written beside each row of the table.
[[nodiscard]] FlopCount count_flops(const OperatorCall& call);

/// Whether an operator only renames or reinterprets its input, so that no bytes need to move.
[[nodiscard]] bool is_view(std::string_view operator_name);

}  // namespace ridgeline::schema
