// SPDX-License-Identifier: Apache-2.0
#include "schema/objective.hpp"

#include "base/text.hpp"
#include "schema/metric_def.hpp"

namespace ridgeline::schema {

base::Result<Constraint> parse_constraint(std::string_view text) {
  using base::ErrorCode;
  auto at = text.find("<=");
  const bool at_most = at != std::string_view::npos;
  if (!at_most) at = text.find(">=");
  if (at == std::string_view::npos)
    return base::fail(ErrorCode::invalid_argument,
                      "--constraint \"{}\": expected METRIC<=NUMBER or METRIC>=NUMBER, such as latency_p99_ms<=20",
                      text);
  Constraint constraint;
  constraint.metric = std::string(base::trim(text.substr(0, at)));
  constraint.at_most = at_most;
  if (find_metric(constraint.metric) == nullptr) {
    std::vector<std::string> keys;
    for (const auto& row : metrics()) keys.push_back(row.key);
    return base::fail(ErrorCode::invalid_argument, "--constraint \"{}\": unknown metric \"{}\"; known: {}", text,
                      constraint.metric, fmt::join(keys, ", "))
        .hint("{}", base::did_you_mean(constraint.metric, keys));
  }
  RL_TRY_ASSIGN(constraint.bound,
                base::parse_number(base::trim(text.substr(at + 2)), fmt::format("--constraint \"{}\"", text)));
  if (at_most && constraint.bound <= 0)
    return base::fail(ErrorCode::invalid_argument,
                      "--constraint \"{}\": nothing can meet it, expected a number above 0", text);
  return constraint;
}

RL_DEFINE_JSON(Constraint, metric, at_most, bound)

}  // namespace ridgeline::schema
