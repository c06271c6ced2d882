// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ridgeline::inject {

/// "cudaLaunchKernel" of "cudaLaunchKernel_v7000".
[[nodiscard]] std::string_view without_version(std::string_view name);
/// Whether a call of the runtime or the driver launches work, copies, waits, or may take long: others are not recorded.
[[nodiscard]] bool matters(std::string_view name);

}  // namespace ridgeline::inject
