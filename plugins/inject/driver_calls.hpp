// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::inject {

/// A function of the driver that the process has loaded, under whatever visibility; nullptr: it has none.
[[nodiscard]] void* driver_function(const char* name);
/// The CUcontext of the calling thread, by the driver that the process has loaded; nullptr: there is none.
[[nodiscard]] void* current_context();
/// Waits for all work of a context. Whether the driver could, which it cannot as the process ends.
[[nodiscard]] bool synchronize(void* context);

}  // namespace ridgeline::inject
