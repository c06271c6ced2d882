// SPDX-License-Identifier: Apache-2.0
#include "trace/record/device_numbers.hpp"

namespace ridgeline::trace {

std::int32_t DeviceNumbers::number_of(const std::string& uuid, std::int32_t own) {
  const auto [found, is_new] = numbers_.try_emplace(uuid, own);
  if (is_new) {
    if (taken_.count(own) != 0)
      for (found->second = 0; taken_.count(found->second) != 0;) ++found->second;
    taken_.insert(found->second);
  }
  return found->second;
}

void DeviceNumbers::apply(const std::map<std::int32_t, std::string>& uuids, Trace& trace) {
  std::map<std::int32_t, std::int32_t> shared;
  for (const auto& [own, uuid] : uuids) shared[own] = number_of(uuid, own);
  const auto renumber = [&](std::int32_t& device) {
    if (const auto found = shared.find(device); found != shared.end()) device = found->second;
  };
  for (auto& device : trace.devices) renumber(device.id);
  for (auto& device : trace.allocations.device) renumber(device);
  trace.renumber_gpus(renumber);
}

}  // namespace ridgeline::trace
