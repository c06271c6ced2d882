// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "schema/message.hpp"

namespace ridgeline::doctor {

/// What to do about the gravest of the reasons (nvmlClocksEventReason bits) that throttle a GPU's clocks; empty when
/// they are what every busy GPU shows.
[[nodiscard]] schema::Message fix_of_reasons(std::uint64_t bits);

}  // namespace ridgeline::doctor
