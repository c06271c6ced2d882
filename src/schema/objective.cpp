// SPDX-License-Identifier: Apache-2.0
#include "schema/objective.hpp"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "schema/metric_def.hpp"
#include "schema/suggestion.hpp"

namespace ridgeline::schema {
namespace {

using base::ErrorCode;

struct Unit {
  std::string_view of;  ///< MetricDef::unit
  std::string_view name;
  double factor;
};

constexpr std::array kUnits{
    Unit{"ms", "ms", 1},
    Unit{"ms", "us", 1e-3},
    Unit{"ms", "µs", 1e-3},
    Unit{"ms", "ns", 1e-6},
    Unit{"ms", "s", 1e3},
    Unit{"s", "s", 1},
    Unit{"s", "ms", 1e-3},
    Unit{"s", "min", 60},
    Unit{"MB", "MB", 1},
    Unit{"MB", "GB", 1e3},
    Unit{"MB", "MiB", 1.048576},
    Unit{"MB", "GiB", 1073.741824},
    Unit{"GB", "GB", 1},
    Unit{"GB", "MB", 1e-3},
    Unit{"GB", "GiB", 1.073741824},
    Unit{"GB", "MiB", 1.048576e-3},
    Unit{"items/s", "/s", 1},
    Unit{"items/s", "items/s", 1},
    Unit{"items/s", "fps", 1},
    Unit{"mJ", "mJ", 1},
    Unit{"mJ", "J", 1e3},
};

/// A number in the metric's unit, or with a unit of its own.
base::Result<double> parse_bound(std::string_view text, const MetricDef& metric, std::string_view constraint) {
  const auto end = text.find_last_of("0123456789.");
  const auto word = base::trim(text.substr(end == std::string_view::npos ? 0 : end + 1));
  double factor = 1;
  if (!word.empty()) {
    const auto* unit = std::find_if(kUnits.begin(), kUnits.end(),
                                    [&](const Unit& one) { return one.of == metric.unit && one.name == word; });
    if (unit == kUnits.end()) {
      std::vector<std::string_view> known;
      for (const auto& one : kUnits)
        if (one.of == metric.unit) known.push_back(one.name);
      return base::fail(ErrorCode::invalid_argument, "--constraint \"{}\": \"{}\" is no unit of {}; expected {}",
                        constraint, word, metric.key, fmt::join(known, ", "))
          .hint("for example {}<={}{}", metric.key, 20, metric.unit);
    }
    factor = unit->factor;
    text.remove_suffix(text.size() - end - 1);
  }
  RL_TRY_ASSIGN(const auto number,
                base::parse_number(base::trim(text), fmt::format("--constraint \"{}\"", constraint)));
  return number * factor;
}

}  // namespace

base::Result<Constraint> parse_constraint(std::string_view text) {
  auto at = text.find("<=");
  const bool at_most = at != std::string_view::npos;
  if (!at_most) at = text.find(">=");
  if (at == std::string_view::npos)
    return base::fail(ErrorCode::invalid_argument,
                      "--constraint \"{}\": expected METRIC<=NUMBER or METRIC>=NUMBER, such as 'latency_p99_ms<=20' or "
                      "'p99<=20ms'",
                      text);
  Constraint constraint;
  constraint.at_most = at_most;
  const auto name = base::trim(text.substr(0, at));
  const auto* metric = find_metric_called(name);
  if (metric == nullptr) {
    std::vector<std::string> keys;
    for (const auto& row : metrics()) keys.push_back(row.key);
    return base::fail(ErrorCode::invalid_argument, "--constraint \"{}\": unknown metric \"{}\"; known: {}", text, name,
                      fmt::join(keys, ", "))
        .hint("{}", suggest(name, keys));
  }
  constraint.metric = metric->key;
  RL_TRY_ASSIGN(constraint.bound, parse_bound(base::trim(text.substr(at + 2)), *metric, text));
  if (at_most && constraint.bound <= 0)
    return base::fail(ErrorCode::invalid_argument,
                      "--constraint \"{}\": nothing can meet it, expected a number above 0", text);
  return constraint;
}

RL_DEFINE_JSON(Constraint, metric, at_most, bound)

}  // namespace ridgeline::schema
