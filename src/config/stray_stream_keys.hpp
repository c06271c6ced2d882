// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::config {

/// Keys of the section `stream` that stand where nobody reads them, as a path: at the top level, and in a file without
/// the section also in a mapping that is likely meant as it. For a note. Errors: parse_yaml's.
[[nodiscard]] base::Result<std::vector<std::string>> stray_stream_keys(std::string_view yaml,
                                                                       std::string_view file_name);

}  // namespace ridgeline::config
