// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/configuration.hpp"

namespace ridgeline::search {

/// A relation over settings, as people write it: "intra_op_num_threads * parallel_sessions <= 8".
///   relation   := sum ("<=" | "<" | ">=" | ">" | "==" | "!=") sum
///   sum        := product ("+" product)*
///   product    := operand ("*" operand)*
///   operand    := parameter key | non-negative number
/// A parameter with named values or true/false is compared by == or != with one of them: "execution_mode ==
/// sequential".
class ConstraintExpression {
 public:
  /// Errors name the text and the place, and the nearest parameter key.
  [[nodiscard]] static base::Result<ConstraintExpression> parse(std::string_view text);

  /// `automatic`: what the runtime picks for settings that are unset or 0 (thread counts), by key.
  [[nodiscard]] bool holds(const schema::Configuration& configuration,
                           const std::map<std::string, double>& automatic) const;
  /// The parameters it speaks of, without repetition.
  [[nodiscard]] const std::vector<std::string>& keys() const noexcept { return keys_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  struct Operand {
    std::string key;  ///< "" for a number
    double number = 0;
  };
  using Product = std::vector<Operand>;
  using Sum = std::vector<Product>;
  friend class ConstraintParser;

  [[nodiscard]] static double value_of(const Sum& sum, const schema::Configuration& configuration,
                                       const std::map<std::string, double>& automatic);

  std::string text_;
  std::string relation_;
  Sum left_;
  Sum right_;
  std::string named_key_;  ///< comparison with a named value
  schema::Value named_value_;
  std::vector<std::string> keys_;
};

}  // namespace ridgeline::search
