// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Also compiled into the recorder (plugins/inject): it may use the standard library alone.
namespace ridgeline::host {

/// 13 of "/usr/lib/libcudart.so.13.0.96" and "libcudart.so."; nullopt: another library, or no version.
[[nodiscard]] std::optional<int> library_major(const std::string& path, std::string_view library);
/// Where the CUPTI of a CUDA release is looked for in a process, in this order: the one that it has loaded, those next
/// to its CUDA runtime (pip's packages, the toolkit), what RIDGELINE_CUPTI names, and the usual places. A name without
/// a folder is for the loader. `loaded`: files of the libraries that the process has loaded.
[[nodiscard]] std::vector<std::string> cupti_places(const std::vector<std::string>& loaded, int cuda_major);

}  // namespace ridgeline::host
