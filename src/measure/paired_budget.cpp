// SPDX-License-Identifier: Apache-2.0
#include "measure/paired_budget.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ridgeline::measure {

double PairedBudget::limit_s() const noexcept {
  return has_samples() ? plan_.max_time_s : std::max(plan_.max_time_s, plan_.min_samples_time_s);
}

std::optional<schema::QualityFlag> PairedBudget::flag(int abba_rounds) const {
  const auto told = [&](std::string what) {
    return schema::QualityFlag{schema::FlagLevel::info, "time_budget",
                               fmt::format("the budget of {:.3g} s ended after {}", limit_s(), what)};
  };
  if (abba_rounds < plan_.abba_rounds) return told(fmt::format("{} of {} ABBA rounds", abba_rounds, plan_.abba_rounds));
  if (!has_samples()) return told(fmt::format("{} of {} samples a side", samples(), plan_.min_samples));
  return std::nullopt;
}

}  // namespace ridgeline::measure
