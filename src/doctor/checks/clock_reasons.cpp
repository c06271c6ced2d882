// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/clock_reasons.hpp"

namespace ridgeline::doctor {

// Bits of nvmlClocksEventReason: 0x4 SW power cap is every GPU under full load, 0x1 idle, 0x2 and 0x100 asked for.
std::string fix_of_reasons(std::uint64_t bits) {
  if ((bits & 0x80U) != 0)
    return "the power supply asks the card to brake: check cables, power supply and its redundancy";
  if ((bits & 0x40U) != 0) return "the card is too hot: check fans, airflow, dust and the neighbour slots";
  if ((bits & 0x8U) != 0) return "the hardware halves the clocks: heat or power; check cooling and power cables";
  if ((bits & 0x20U) != 0) return "the driver lowers the clocks for heat: improve cooling";
  if ((bits & 0x10U) != 0)
    return "clocks follow the slowest GPU of a sync-boost group: dissolve the group unless it is wanted";
  return {};
}

}  // namespace ridgeline::doctor
