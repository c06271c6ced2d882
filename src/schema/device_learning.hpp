// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/json.hpp"

namespace ridgeline::schema {

/// What a parameter did to the cost: the mean of |log(cost with it / cost without it)| over so many runs.
struct SettingEffect {
  double mean = 0;
  double runs = 0;
};
RL_DECLARE_JSON(SettingEffect)

/// What runs on one device taught of it. Whoever uses it pulls it towards what other devices taught (stats::shrunk), so
/// that an empty one stands for these alone.
struct DeviceLearning {
  double session_variance = 0;  ///< of log cost between sessions of one configuration; an estimate, may be below 0
  double session_freedom = 0;   ///< its degrees of freedom
  std::map<std::string, SettingEffect> effects;  ///< by parameter

  [[nodiscard]] bool empty() const noexcept { return session_freedom <= 0 && effects.empty(); }
  /// With what other runs taught, each by its weight.
  void add(const DeviceLearning& other);
};
RL_DECLARE_JSON(DeviceLearning)

}  // namespace ridgeline::schema
