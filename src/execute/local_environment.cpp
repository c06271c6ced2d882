// SPDX-License-Identifier: Apache-2.0
#include "execute/local_environment.hpp"

#include <cstdlib>
#include <optional>
#include <string>

#include "base/version.hpp"
#include "execute/gpu_choice.hpp"
#include "gpu/gpu_inventory.hpp"
#include "host/environment_probe.hpp"

namespace ridgeline::execute {

schema::Environment local_environment() {
  auto environment = host::probe_environment();
  environment.ridgeline_version = base::version();
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  describe_gpus(environment, gpu::GpuInventory::read(),
                visible != nullptr ? std::optional<std::string>(visible) : std::nullopt);
  return environment;
}

std::int64_t available_memory_bytes() { return host::probe_environment().memory_available_bytes; }

}  // namespace ridgeline::execute
