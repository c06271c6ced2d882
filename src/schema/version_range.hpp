// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ridgeline::schema {

/// From `since` on and before `before`; "" leaves that end open.
struct VersionRange {
  std::string_view since = {};
  std::string_view before = {};
};

/// A version that is not known ("") counts as the newest.
[[nodiscard]] bool in_range(std::string_view version, const VersionRange& range);

}  // namespace ridgeline::schema
