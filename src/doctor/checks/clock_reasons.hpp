// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ridgeline::doctor {

/// What to do about the gravest of the reasons (nvmlClocksEventReason bits) that throttle a GPU's clocks; "" when they
/// are what every busy GPU shows.
[[nodiscard]] std::string fix_of_reasons(std::uint64_t bits);

}  // namespace ridgeline::doctor
