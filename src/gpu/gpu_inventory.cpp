// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_inventory.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "gpu/nvml_device.hpp"
#include "schema/messages.hpp"

namespace ridgeline::gpu {
namespace {

schema::GpuDescription describe(const NvmlApi& api, const NvmlDevice& device, unsigned index) {
  schema::GpuDescription gpu;
  gpu.index = static_cast<int>(index);
  gpu.name = device.name();
  gpu.uuid = device.uuid();
  gpu.architecture = device.architecture();
  gpu.compute_capability = device.compute_capability();
  gpu.multiprocessors = device.multiprocessors();
  if (const auto memory = device.memory()) {
    gpu.memory_bytes = static_cast<std::int64_t>(memory->total);
    gpu.memory_free_bytes = static_cast<std::int64_t>(memory->free);
  }
  gpu.driver_version = api.driver_version();
  gpu.cuda_version = api.cuda_version();
  gpu.max_sm_clock_mhz = device.max_clock_mhz(nvml::kSmClock);
  gpu.max_memory_clock_mhz = device.max_clock_mhz(nvml::kMemoryClock);
  gpu.power_limit_w = device.power_limit_w();
  gpu.default_power_limit_w = device.default_power_limit_w();
  gpu.pci_bus_id = device.pci_bus_id();
  gpu.mig = device.mig();
  gpu.ecc = device.ecc();
  gpu.persistence = device.persistence();
  return gpu;
}

/// All that was noted, as one message.
schema::Message together(std::vector<schema::Message> notes) {
  if (notes.empty()) return {};
  return notes.size() == 1 ? std::move(notes.front()) : schema::messages::several(notes);
}

}  // namespace

GpuInventory GpuInventory::read(const std::vector<std::string>& candidates) {
  GpuInventory inventory;
  const auto api = NvmlApi::load(candidates);
  if (!api) {
    inventory.note = schema::messages::no_gpu(base::error_line(api.error()));
    return inventory;
  }
  const auto count = (*api)->device_count();
  if (!count) {
    inventory.note = schema::messages::no_gpu(base::error_line(count.error()));
    return inventory;
  }
  std::vector<schema::Message> lost;
  for (unsigned index = 0; index < *count; ++index) {
    const auto handle = (*api)->device_by_index(index);
    if (handle)
      inventory.gpus.push_back(describe(**api, NvmlDevice(*api, *handle), index));
    else  // a GPU that fell off the bus, or one that a container may not see, must not hide the others
      lost.push_back(schema::messages::gpu_not_opened(handle.error().message));
  }
  inventory.note = together(std::move(lost));
  if (*count == 0) inventory.note = schema::messages::gpus_none_listed((*api)->path().string());
  return inventory;
}

void GpuInventory::keep_visible(std::string_view visible_devices) {
  std::vector<schema::GpuDescription> kept;
  for (const auto& part : base::split(visible_devices, ',')) {
    const auto word = base::trim(part);
    const auto number = base::parse_integer(word, "CUDA_VISIBLE_DEVICES");
    const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const schema::GpuDescription& gpu) {
      if (number) return gpu.index && *gpu.index == *number;
      return !word.empty() && gpu.uuid.rfind(word, 0) == 0;
    });
    if (found == gpus.end()) break;
    kept.push_back(*found);
  }
  if (kept.size() < gpus.size()) {
    std::vector<schema::Message> notes;
    if (!note.empty()) notes.push_back(std::move(note));
    notes.push_back(schema::messages::gpus_hidden({.value = std::string(visible_devices),
                                                   .hidden = std::ssize(gpus) - std::ssize(kept),
                                                   .gpus = std::ssize(gpus)}));
    note = together(std::move(notes));
  }
  gpus = std::move(kept);
}

}  // namespace ridgeline::gpu
