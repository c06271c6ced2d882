// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/version.hpp"

namespace ridgeline::app {

/// The commit that the program was built from, "a1b2c3d", with "+" where files differed from it; "" when that is not
/// known, as of a source archive. Made at build time by cmake/Commit.cmake.
[[nodiscard]] std::string_view commit() noexcept;

/// "0.2.0 (a1b2c3d)", or "0.2.0".
[[nodiscard]] inline std::string version_text() {
  auto text = std::string(base::version());
  if (!commit().empty()) text += " (" + std::string(commit()) + ")";
  return text;
}

}  // namespace ridgeline::app
