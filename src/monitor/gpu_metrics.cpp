// SPDX-License-Identifier: Apache-2.0
#include "monitor/gpu_metrics.hpp"

#include <array>

namespace ridgeline::monitor {

const char* slowdown_label(const std::string& cause, bool brief) noexcept {
  struct Label {
    const char* cause;
    const char* full;
    const char* brief;
  };
  constexpr std::array<Label, 7> kLabels{{{"sw_power_cap", "power limit", "power"},
                                          {"sw_thermal_slowdown", "heat", "heat"},
                                          {"hw_thermal_slowdown", "heat (hardware)", "hw heat"},
                                          {"thermal_slowdown", "heat", "heat"},
                                          {"hw_power_brake", "power brake", "brake"},
                                          {"hw_slowdown", "hardware", "hw"},
                                          {"sync_boost", "sync boost", "sync"}}};
  for (const auto& label : kLabels)
    if (cause == label.cause) return brief ? label.brief : label.full;
  return cause.c_str();
}

}  // namespace ridgeline::monitor
