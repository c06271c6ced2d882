// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fakes/words.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::search {

inline BuiltSpace build(const SpaceInput& input) {
  auto built = build_space(input);
  EXPECT_TRUE(built) << (built ? "" : built.error().message);
  return built ? std::move(*built) : BuiltSpace{};
}

inline std::string error_of(const SpaceInput& input) {
  const auto built = build_space(input);
  return built ? "" : base::error_line(built.error());
}

inline std::vector<schema::Value> values(const BuiltSpace& built, const std::string& key) {
  const auto* dimension = built.space.dimension(key);
  return dimension == nullptr ? std::vector<schema::Value>{} : dimension->values;
}

/// Why the whole parameter, or that value of it, is left out.
inline std::string reason(const BuiltSpace& built, const std::string& key, const std::vector<schema::Value>& of = {}) {
  for (const auto& pruned : built.pruned)
    if (pruned.key == key && pruned.values == of) return fakes::text_of(pruned.reason);
  return "";
}

}  // namespace ridgeline::search
