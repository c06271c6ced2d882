// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::inject {

/// Files of the libraries that this process has loaded.
[[nodiscard]] std::vector<std::string> loaded_libraries();
/// 13 of "/usr/lib/libcudart.so.13.0.96" and "libcudart.so."; nullopt: another library, or no version.
[[nodiscard]] std::optional<int> major_of(const std::string& path, std::string_view library);
/// CUDA's major version: that of the runtime, else of CUPTI, that is loaded; else of the driver. 0: none is.
[[nodiscard]] int loaded_cuda_major(const std::vector<std::string>& loaded);
/// Where CUPTI of that CUDA is looked for, in this order: the one that is loaded, those that lie with the loaded
/// runtime (pip's packages, the toolkit), what RIDGELINE_CUPTI names, and the usual places.
[[nodiscard]] std::vector<std::string> cupti_places(const std::vector<std::string>& loaded, int cuda_major);

}  // namespace ridgeline::inject
