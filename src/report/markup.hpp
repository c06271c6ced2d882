// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "report/report_model.hpp"

namespace ridgeline::report {

/// Text in which HTML and XML find no markup, in elements and in quoted attributes.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// The class of a tone: "neutral", "good", "warning", "bad".
[[nodiscard]] std::string_view tone_name(Tone tone) noexcept;

}  // namespace ridgeline::report
