// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/clock_reasons.hpp"

#include "doctor/messages.hpp"

namespace ridgeline::doctor {

// Bits of nvmlClocksEventReason: 0x4 SW power cap is every GPU under full load, 0x1 idle, 0x2 and 0x100 asked for.
schema::Message fix_of_reasons(std::uint64_t bits) {
  if ((bits & 0x80U) != 0) return messages::fix_power_brake();
  if ((bits & 0x40U) != 0) return messages::fix_hot();
  if ((bits & 0x8U) != 0) return messages::fix_hardware_slowdown();
  if ((bits & 0x20U) != 0) return messages::fix_driver_heat();
  if ((bits & 0x10U) != 0) return messages::fix_sync_boost();
  return {};
}

}  // namespace ridgeline::doctor
