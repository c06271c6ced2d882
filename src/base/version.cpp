// SPDX-License-Identifier: Apache-2.0
#include "base/version.hpp"

namespace ridgeline::base {

std::string_view version() noexcept { return RIDGELINE_VERSION; }

}  // namespace ridgeline::base
