// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ridgeline::trace {

/// Whether a file, or a frame that begins with one ("torch/nn/modules/linear.py(114): forward"), is of torch itself or
/// was made by it. A user's own folder may be called torch too.
[[nodiscard]] bool is_of_torch(std::string_view file);

}  // namespace ridgeline::trace
