// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ridgeline::base {

/// The project's version, "0.2.0": the VERSION file at build time.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace ridgeline::base
