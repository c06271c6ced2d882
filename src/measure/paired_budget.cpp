// SPDX-License-Identifier: Apache-2.0
#include "measure/paired_budget.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "measure/messages.hpp"

namespace ridgeline::measure {

double PairedBudget::limit_s() const noexcept {
  return has_samples() ? plan_.max_time_s : std::max(plan_.max_time_s, plan_.min_samples_time_s);
}

std::optional<schema::QualityFlag> PairedBudget::flag(int abba_rounds) const {
  const bool lacks_samples = abba_rounds >= plan_.abba_rounds;
  if (lacks_samples && has_samples()) return std::nullopt;
  return schema::QualityFlag{
      schema::FlagLevel::info, "time_budget",
      messages::budget_over(
          {.limit_s = limit_s(),
           .reached = lacks_samples ? static_cast<std::int64_t>(samples()) : abba_rounds,
           .planned = lacks_samples ? static_cast<std::int64_t>(plan_.min_samples) : plan_.abba_rounds,
           .samples = lacks_samples})};
}

}  // namespace ridgeline::measure
