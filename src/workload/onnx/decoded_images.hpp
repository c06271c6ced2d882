// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stream/device_images.hpp"

namespace ridgeline::workload {

/// GPU memory for frames that its decoders leave there; blocks are used again once nobody holds their frame. Errors:
/// unavailable, when there is no driver or GPU.
[[nodiscard]] base::Result<std::shared_ptr<stream::DeviceImages>> make_decoded_images(
    const std::vector<std::string>& drivers = {"libcuda.so.1", "libcuda.so"});

}  // namespace ridgeline::workload
