// SPDX-License-Identifier: Apache-2.0
#include "config/key_place.hpp"

#include <algorithm>

namespace ridgeline::config {

KeyPlace::KeyPlace(const YamlTree& tree, std::string_view key, const std::vector<std::string>& usual)
    : tree_(tree), places_(tree.places_of(key)) {
  for (const auto& path : usual) {
    const auto found =
        std::find_if(places_.begin(), places_.end(), [&](int place) { return tree.path(place) == path; });
    if (found == places_.end()) continue;
    value_ = *found;
    return;
  }
  if (places_.size() == 1) value_ = places_.front();
}

std::string KeyPlace::path() const {
  auto path = tree_.path(value_);
  return tree_.documents.size() > 1 && path.rfind('#', 0) != 0 ? "#1:" + path : path;
}

std::string KeyPlace::list() const {
  std::vector<std::string> lines;
  for (const int place : places_) lines.push_back(fmt::format("{} (line {})", tree_.path(place), tree_.at(place).line));
  return fmt::format("{}", fmt::join(lines, ", "));
}

}  // namespace ridgeline::config
