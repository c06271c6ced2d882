// SPDX-License-Identifier: Apache-2.0
#include "monitor/gpu_metrics.hpp"

#include <utility>

namespace ridgeline::monitor {

const char* slowdown_label(const std::string& cause) noexcept {
  constexpr std::array<std::pair<const char*, const char*>, 7> kLabels{{{"sw_power_cap", "power limit"},
                                                                        {"sw_thermal_slowdown", "heat"},
                                                                        {"hw_thermal_slowdown", "heat (hardware)"},
                                                                        {"thermal_slowdown", "heat"},
                                                                        {"hw_power_brake", "power brake"},
                                                                        {"hw_slowdown", "hardware"},
                                                                        {"sync_boost", "sync boost"}}};
  for (const auto& [name, label] : kLabels)
    if (cause == name) return label;
  return cause.c_str();
}

}  // namespace ridgeline::monitor
