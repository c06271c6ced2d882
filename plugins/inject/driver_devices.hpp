// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tracefile/device.hpp"

namespace ridgeline::inject {

struct DriverDevice {
  trace::Device device;
  std::string uuid;  ///< "GPU-...", "MIG-..."; "": not known
};

/// The GPUs of this process as CUDA's driver describes them, once CUDA has started; empty where it does not.
[[nodiscard]] std::vector<DriverDevice> driver_devices();

}  // namespace ridgeline::inject
