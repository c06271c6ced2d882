// SPDX-License-Identifier: Apache-2.0
#include "search/constraint_expression.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::search {

using base::ErrorCode;
using base::Result;
using schema::ParamType;

/// Recursive descent over the text; one use.
class ConstraintParser {
 public:
  explicit ConstraintParser(std::string_view text) : text_(text) {}

  Result<ConstraintExpression> parse() {
    out_.text_ = std::string(base::trim(text_));
    RL_TRY_ASSIGN(out_.left_, sum());
    RL_TRY(relation());
    if (out_.left_.size() == 1 && out_.left_[0].size() == 1 && !out_.left_[0][0].key.empty()) {
      const auto* param = schema::find_param(out_.left_[0][0].key);
      if (param->type != ParamType::integer && param->type != ParamType::number) return named(*param);
    }
    RL_TRY_ASSIGN(out_.right_, sum());
    RL_TRY(end());
    for (const auto* side : {&out_.left_, &out_.right_})
      for (const auto& product : *side)
        for (const auto& operand : product) RL_TRY(check_numeric(operand));
    if (out_.keys_.empty()) return bad("it names no parameter");
    return std::move(out_);
  }

 private:
  base::Fault bad(std::string_view reason) const {
    return base::fail(
        ErrorCode::invalid_argument,
        "constraint \"{}\": {}; expected something like \"intra_op_num_threads * parallel_sessions <= 8\"", text_,
        reason);
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool take(std::string_view symbol) {
    skip_space();
    if (text_.substr(at_, symbol.size()) != symbol) return false;
    at_ += symbol.size();
    return true;
  }

  std::string_view word() {
    skip_space();
    const auto start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    return text_.substr(start, at_ - start);
  }

  Result<ConstraintExpression::Sum> sum() {
    ConstraintExpression::Sum terms;
    do {
      RL_TRY_ASSIGN(auto term, product());
      terms.push_back(std::move(term));
    } while (take("+"));
    return terms;
  }

  Result<ConstraintExpression::Product> product() {
    ConstraintExpression::Product operands;
    do {
      RL_TRY_ASSIGN(auto operand, this->operand());
      operands.push_back(std::move(operand));
    } while (take("*"));
    return operands;
  }

  Result<ConstraintExpression::Operand> operand() {
    const auto token = word();
    if (token.empty())
      return bad(at_ < text_.size() ? fmt::format("\"{}\" where a parameter or number should be", text_.substr(at_))
                                    : std::string("it ends where a parameter or number should be"));
    if (std::isdigit(static_cast<unsigned char>(token[0])) != 0) {
      RL_TRY_ASSIGN(const double number, base::parse_number(token, fmt::format("constraint \"{}\"", text_)));
      return ConstraintExpression::Operand{"", number};
    }
    const auto param = schema::require_param(token);
    if (!param) return bad(param.error().message).hint("{}", param.error().hint);
    if (std::find(out_.keys_.begin(), out_.keys_.end(), token) == out_.keys_.end()) out_.keys_.emplace_back(token);
    return ConstraintExpression::Operand{std::string(token), 0};
  }

  Result<void> relation() {
    for (const auto* symbol : {"<=", ">=", "==", "!=", "<", ">"})
      if (take(symbol)) {
        out_.relation_ = symbol;
        return {};
      }
    return bad("no relation (<=, <, >=, >, ==, !=)");
  }

  Result<void> end() {
    skip_space();
    if (at_ != text_.size()) return bad(fmt::format("\"{}\" is left over", text_.substr(at_)));
    return {};
  }

  Result<ConstraintExpression> named(const schema::ParamDef& param) {
    const auto token = base::trim(text_.substr(at_));
    if (out_.relation_ != "==" && out_.relation_ != "!=")
      return bad(fmt::format("{} is no number, so only == and != apply", param.key));
    const auto value = schema::parse_value(param, token);
    if (!value) return bad(value.error().message).hint("{}", value.error().hint);
    out_.named_key_ = param.key;
    out_.named_value_ = *value;
    return std::move(out_);
  }

  Result<void> check_numeric(const ConstraintExpression::Operand& operand) const {
    if (operand.key.empty()) return {};
    const auto type = schema::find_param(operand.key)->type;
    if (type == ParamType::integer || type == ParamType::number) return {};
    return bad(fmt::format("{} is no number", operand.key));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  ConstraintExpression out_;
};

Result<ConstraintExpression> ConstraintExpression::parse(std::string_view text) {
  return ConstraintParser(text).parse();
}

double ConstraintExpression::value_of(const Sum& sum, const schema::Configuration& configuration,
                                      const std::map<std::string, double>& automatic) {
  double total = 0;
  for (const auto& product : sum) {
    double value = 1;
    for (const auto& operand : product) {
      if (operand.key.empty()) {
        value *= operand.number;
        continue;
      }
      const auto& fallback = schema::find_param(operand.key)->default_value;
      const auto* set = configuration.find(operand.key);
      double number = set != nullptr ? set->as_number() : fallback ? fallback->as_number() : 0;
      const auto picked = automatic.find(operand.key);
      if (number == 0 && picked != automatic.end()) number = picked->second;
      value *= number;
    }
    total += value;
  }
  return total;
}

bool ConstraintExpression::holds(const schema::Configuration& configuration,
                                 const std::map<std::string, double>& automatic) const {
  if (!named_key_.empty()) {
    const auto& fallback = schema::find_param(named_key_)->default_value;
    const auto* set = configuration.find(named_key_);
    const bool equal = set != nullptr ? *set == named_value_ : fallback == named_value_;
    return equal == (relation_ == "==");
  }
  const double left = value_of(left_, configuration, automatic);
  const double right = value_of(right_, configuration, automatic);
  if (relation_ == "<=") return left <= right;
  if (relation_ == "<") return left < right;
  if (relation_ == ">=") return left >= right;
  if (relation_ == ">") return left > right;
  return (left == right) == (relation_ == "==");
}

}  // namespace ridgeline::search
