// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schema/configuration.hpp"

namespace ridgeline::report {

/// A configuration as a YAML mapping under `section`, one key a line, sorted; "{}" when empty.
[[nodiscard]] std::string to_yaml(const schema::Configuration& configuration, std::string_view section);

}  // namespace ridgeline::report
