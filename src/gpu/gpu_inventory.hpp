// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu/nvml_api.hpp"
#include "schema/environment.hpp"

namespace ridgeline::gpu {

/// The NVIDIA GPUs of the machine, by PCI address as nvidia-smi lists them.
struct GpuInventory {
  std::vector<schema::GpuDescription> gpus;
  schema::Message note;  ///< why the list is empty or incomplete, and what was tried; empty otherwise

  /// Asks the management library; never fails. Creates no CUDA context.
  [[nodiscard]] static GpuInventory read(const std::vector<std::string>& candidates = NvmlApi::default_candidates());

  /// Keeps what a value of CUDA_VISIBLE_DEVICES allows, in its order: numbers (as nvidia-smi counts) or beginnings of
  /// UUIDs, up to the first that names nothing, which is CUDA's own rule. The note says what was hidden.
  void keep_visible(std::string_view visible_devices);
};

}  // namespace ridgeline::gpu
