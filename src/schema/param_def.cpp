// SPDX-License-Identifier: Apache-2.0
#include "schema/param_def.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "schema/execution_provider.hpp"
#include "schema/suggestion.hpp"

namespace ridgeline::schema {
namespace {

using base::ErrorCode;

std::string legal_values(const ParamDef& param) {
  if (param.type == ParamType::number && param.minimum && param.maximum)
    return fmt::format("a number in {:g}..{:g}", *param.minimum, *param.maximum);
  if (param.type == ParamType::integer || param.type == ParamType::number) {
    const auto* kind = param.type == ParamType::integer ? "a whole number" : "a number";
    if (param.minimum && param.maximum)
      return fmt::format("{} in {:.0f}..{:.0f}", kind, *param.minimum, *param.maximum);
    if (param.minimum) return fmt::format("{} of at least {:.0f}", kind, *param.minimum);
    return kind;
  }
  if (param.type == ParamType::boolean) return "true or false";
  if (param.type == ParamType::text) return "text";
  std::string list;
  for (const auto& choice : param.choices) list += fmt::format("{}{}", list.empty() ? "" : ", ", choice.to_text());
  return "one of " + list;
}

std::vector<std::string> choice_names(const ParamDef& param) {
  std::vector<std::string> names;
  for (const auto& choice : param.choices) names.push_back(choice.to_text());
  return names;
}

}  // namespace

bool is_for(const ParamDef& param, std::string_view provider) {
  if (param.providers.empty()) return param.any_engine || provider_of(provider).engine == cpu_provider().engine;
  return std::find(param.providers.begin(), param.providers.end(), provider) != param.providers.end();
}

base::Result<void> check_value(const ParamDef& param, const Value& value) {
  const auto bad = [&](std::string_view hint = {}) {
    return base::fail(ErrorCode::invalid_argument, "{}={} is not legal: expected {}", param.key, value.to_text(),
                      legal_values(param))
        .hint("{}", hint);
  };
  switch (param.type) {
    case ParamType::boolean:
      if (!value.is_bool()) return bad();
      break;
    case ParamType::integer:
    case ParamType::number:
      if (param.type == ParamType::integer ? !value.is_integer() : !value.is_number()) return bad();
      if (param.minimum && value.as_number() < *param.minimum) return bad();
      if (param.maximum && value.as_number() > *param.maximum) return bad();
      break;
    case ParamType::choice:
      if (std::find(param.choices.begin(), param.choices.end(), value) == param.choices.end())
        return bad(suggest(value.to_text(), choice_names(param)));
      break;
    case ParamType::text:
      if (!value.is_text()) return bad();
      break;
  }
  return {};
}

base::Result<Value> parse_value(const ParamDef& param, std::string_view text) {
  Value value(std::string{text});
  if (param.type == ParamType::boolean) {
    if (text == "true" || text == "1" || text == "on" || text == "yes") value = true;
    if (text == "false" || text == "0" || text == "off" || text == "no") value = false;
  } else if (param.type == ParamType::integer) {
    RL_TRY_ASSIGN(const std::int64_t number, base::parse_integer(text, param.key));
    value = number;
  } else if (param.type == ParamType::number) {
    RL_TRY_ASSIGN(const double number, base::parse_number(text, param.key));
    value = number;
  } else if (param.type == ParamType::choice) {
    for (const auto& choice : param.choices)
      if (choice.to_text() == text) value = choice;
  }
  RL_TRY(check_value(param, value));
  return value;
}

}  // namespace ridgeline::schema
