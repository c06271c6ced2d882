// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/stream_spec.hpp"

namespace ridgeline::config {

/// What the section `stream:` of a config says; settings that it does not name keep their defaults. A file without the
/// section is legal. Errors (invalid_argument) name line and column, the value, what was expected, and for an unknown
/// key the nearest one.
[[nodiscard]] base::Result<schema::StreamSettings> read_stream_section(std::string_view yaml,
                                                                       std::string_view file_name);

/// One setting as KEY=VALUE, for the command line; keys of the section within are "preprocess.mean".
[[nodiscard]] base::Result<void> set_stream_setting(schema::StreamSettings& settings, std::string_view key,
                                                    std::string_view value);

/// The names of all settings, those of the section within as "preprocess.mean".
[[nodiscard]] std::vector<std::string> stream_setting_names();

/// The values of a setting that takes one of a few words; empty for any other.
[[nodiscard]] std::vector<std::string> stream_setting_words(std::string_view name);

}  // namespace ridgeline::config
