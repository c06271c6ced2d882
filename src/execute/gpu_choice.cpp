// SPDX-License-Identifier: Apache-2.0
#include "execute/gpu_choice.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "schema/error_message.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using base::fail;
using schema::GpuDescription;

constexpr std::string_view kDevicesFlag = "--devices";

int number_of(const std::vector<GpuDescription>& gpus, const GpuDescription& gpu) {
  return gpu.index.value_or(static_cast<int>(&gpu - gpus.data()));
}

void add_to_group(std::vector<GpuGroup>& groups, const GpuDescription& gpu) {
  for (auto& group : groups)
    if (group.front().name == gpu.name && group.front().memory_bytes == gpu.memory_bytes) return group.push_back(gpu);
  groups.push_back({gpu});
}

base::Result<const GpuDescription*> find_gpu(std::string_view word, const std::string& asked,
                                             const std::vector<GpuDescription>& gpus) {
  const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
  const GpuDescription* found = nullptr;
  for (const auto& gpu : gpus) {
    const bool fits =
        is_number ? fmt::to_string(number_of(gpus, gpu)) == word : !word.empty() && gpu.uuid.rfind(word, 0) == 0;
    if (!fits) continue;
    if (found != nullptr)
      return fail(ErrorCode::invalid_argument, "{} {}: \"{}\" fits several GPUs; expected all or some of {}",
                  kDevicesFlag, asked, word, gpu_list(gpus))
          .hint("give more of the UUID, or the number");
    found = &gpu;
  }
  if (found == nullptr)
    return fail(ErrorCode::invalid_argument, "{} {}: there is no GPU \"{}\"; expected all or some of {}", kDevicesFlag,
                asked, word, gpu_list(gpus));
  return found;
}

}  // namespace

void describe_gpus(schema::Environment& environment, gpu::GpuInventory inventory,
                   const std::optional<std::string>& visible_devices) {
  if (inventory.gpus.empty()) {
    if (environment.gpus.empty()) environment.gpu_note = inventory.note;
    inventory.gpus = std::move(environment.gpus);
    inventory.note = environment.gpu_note;
  }
  const bool names_mig = visible_devices && visible_devices->find("MIG-") != std::string::npos;
  if (visible_devices && !names_mig) inventory.keep_visible(*visible_devices);
  environment.gpus = std::move(inventory.gpus);
  environment.gpu_note = std::move(inventory.note);
}

base::Result<std::vector<GpuGroup>> choose_gpus(const std::string& asked, const schema::Environment& environment) {
  const auto& gpus = environment.gpus;
  std::vector<GpuGroup> groups;
  if (gpus.empty() && !asked.empty())
    return fail(ErrorCode::unavailable, "{} {}: no NVIDIA GPU was found{}{}", kDevicesFlag, asked,
                environment.gpu_note.empty() ? "" : ": ", schema::own_text(environment.gpu_note))
        .hint("leave it out to tune the CPU, or see ridgeline doctor");
  if (asked.empty()) {
    if (!gpus.empty()) groups.push_back({gpus.front()});
    return groups;
  }
  if (asked == "all") {
    for (const auto& gpu : gpus) add_to_group(groups, gpu);
    return groups;
  }
  std::vector<const GpuDescription*> chosen;
  for (const auto& part : base::split(asked, ',')) {
    RL_TRY_ASSIGN(const auto* gpu, find_gpu(base::trim(part), asked, gpus));
    if (std::find(chosen.begin(), chosen.end(), gpu) != chosen.end())
      return fail(ErrorCode::invalid_argument, "{} {}: GPU {} is named twice", kDevicesFlag, asked,
                  number_of(gpus, *gpu))
          .hint("name each once");
    chosen.push_back(gpu);
    add_to_group(groups, *gpu);
  }
  return groups;
}

std::vector<std::pair<std::string, std::string>> gpu_environment(const GpuDescription& gpu) {
  if (gpu.uuid.empty() || gpu.mig.value_or(false)) return {};
  return {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", gpu.uuid}};
}

std::string gpu_list(const std::vector<GpuDescription>& gpus) {
  std::string list;
  for (const auto& gpu : gpus)
    list += fmt::format("{}{} ({}{}{})", list.empty() ? "" : ", ", number_of(gpus, gpu), gpu.name,
                        gpu.uuid.empty() ? "" : ", ", gpu.uuid);
  return list;
}

}  // namespace ridgeline::execute
