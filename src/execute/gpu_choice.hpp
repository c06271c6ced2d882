// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "gpu/gpu_inventory.hpp"
#include "schema/environment.hpp"

namespace ridgeline::execute {

/// GPUs of one model, at least one. Trials may be spread over them; different models are tuned separately.
using GpuGroup = std::vector<schema::GpuDescription>;

/// The machine's GPUs as NVML tells them, less what a value of CUDA_VISIBLE_DEVICES hides; as the kernel driver lists
/// them where NVML does not answer. A value that names MIG instances is not looked into: CUDA alone applies it.
void describe_gpus(schema::Environment& environment, gpu::GpuInventory inventory,
                   const std::optional<std::string>& visible_devices);

/// Reads --devices: "" is the first GPU (none when there is none), "all", or numbers as nvidia-smi counts, or
/// beginnings of UUIDs, joined by commas. Errors name what was asked and list what there is.
[[nodiscard]] base::Result<std::vector<GpuGroup>> choose_gpus(const std::string& asked,
                                                              const schema::Environment& environment);

/// What a worker's environment needs to see this GPU only; empty when its UUID is not known or it is split into MIG
/// instances, which CUDA_VISIBLE_DEVICES must name otherwise.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> gpu_environment(const schema::GpuDescription& gpu);

/// "0 (NVIDIA H200, GPU-1234...), 1 (...)"
[[nodiscard]] std::string gpu_list(const std::vector<schema::GpuDescription>& gpus);

}  // namespace ridgeline::execute
