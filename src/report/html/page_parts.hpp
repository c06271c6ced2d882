// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ridgeline::report {

/// The files of this folder, embedded when the build is configured (see embed.cmake).
[[nodiscard]] std::string_view report_css() noexcept;
[[nodiscard]] std::string_view report_js() noexcept;

}  // namespace ridgeline::report
