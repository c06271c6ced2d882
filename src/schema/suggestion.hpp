// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::schema {

/// The known words that an unknown one may stand for: what others call the same thing ("gpu" for cuda, "fps" for
/// throughput), else the nearest spelling, else what has it as a part. Empty: none is likely.
[[nodiscard]] std::vector<std::string> suggestions(std::string_view word, const std::vector<std::string>& known);

/// A hint: "did you mean \"x\"?", with several "... \"x\" or \"y\"?", or "".
[[nodiscard]] std::string suggest(std::string_view word, const std::vector<std::string>& known);

}  // namespace ridgeline::schema
