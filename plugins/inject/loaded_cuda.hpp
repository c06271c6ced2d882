// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ridgeline::inject {

/// Files of the libraries that this process has loaded.
[[nodiscard]] std::vector<std::string> loaded_libraries();
/// CUDA's major version: that of the runtime, else of CUPTI, that is loaded; else of the driver. 0: none is.
[[nodiscard]] int loaded_cuda_major(const std::vector<std::string>& loaded);

}  // namespace ridgeline::inject
