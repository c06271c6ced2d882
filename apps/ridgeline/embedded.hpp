// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ridgeline::app {

/// ECharts' minified script (Apache-2.0), linked into the binary so that reports need no network.
[[nodiscard]] std::string_view echarts_js() noexcept;

}  // namespace ridgeline::app
