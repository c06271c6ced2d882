// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ridgeline::stream {

/// A decoder's result, {"boxes":[{...}, ...]}, whose first boxes get "crop": one of these each.
[[nodiscard]] std::string with_crops(std::string_view result, std::span<const std::string> crops);

}  // namespace ridgeline::stream
