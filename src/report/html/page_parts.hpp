// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ridgeline::report {

/// The files of this folder, embedded when the build is configured (see embed.cmake).
[[nodiscard]] std::string_view report_css() noexcept;
[[nodiscard]] std::string_view report_js() noexcept;
/// Of pages with a Timeline or an Icicle.
[[nodiscard]] std::string_view canvas_css() noexcept;
[[nodiscard]] std::string_view canvas_js() noexcept;
/// Of pages with a Timeline, in this order.
[[nodiscard]] std::string_view timeline_data_js() noexcept;
[[nodiscard]] std::string_view timeline_drawing_js() noexcept;
[[nodiscard]] std::string_view timeline_view_js() noexcept;
[[nodiscard]] std::string_view timeline_js() noexcept;
/// Of pages with an Icicle.
[[nodiscard]] std::string_view icicle_js() noexcept;

}  // namespace ridgeline::report
