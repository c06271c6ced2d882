// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ridgeline::app {

/// The present name of a command's option, "--no-ablation" or "--no-ablation=x", for one that had another name until
/// version 0.2, with a note on standard error; any other word as it is.
[[nodiscard]] std::string present_option(std::string_view command, std::string word);

}  // namespace ridgeline::app
