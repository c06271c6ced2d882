// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"

namespace ridgeline::schema {

/// What "fastest" means. latency: median; p99: 99th percentile; both per inference, one in flight. throughput: items a
/// second, with as many sessions in flight as the configuration asks for.
enum class Objective { latency, p99, throughput };

[[nodiscard]] constexpr bool higher_is_better(Objective objective) noexcept {
  return objective == Objective::throughput;
}

/// "latency_p99_ms<=20": a metric key (MetricDef), a relation and a number in the key's unit.
struct Constraint {
  std::string metric;
  bool at_most = true;  ///< "<="; else ">="
  double bound = 0;
  [[nodiscard]] std::string to_text() const { return fmt::format("{}{}{:g}", metric, at_most ? "<=" : ">=", bound); }
};
RL_DECLARE_JSON(Constraint)

/// Also under the names of find_metric_called, and with a unit of the bound's own: "p99<=20ms". Errors name the unknown
/// metric's nearest neighbour, or the units.
[[nodiscard]] base::Result<Constraint> parse_constraint(std::string_view text);

}  // namespace ridgeline::schema

template <>
struct ridgeline::base::EnumNames<ridgeline::schema::Objective> {
  using enum schema::Objective;
  static constexpr std::array names{std::pair{latency, "latency"}, std::pair{p99, "p99"},
                                    std::pair{throughput, "throughput"}};
};
