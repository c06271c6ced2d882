// SPDX-License-Identifier: Apache-2.0
#include "range_names.hpp"

namespace ridgeline::inject {

std::string_view plain_range_name(std::string_view text) {
  constexpr std::string_view kModule = "nn.Module: ";
  if (!text.starts_with(kModule)) return text;
  text.remove_prefix(kModule.size());
  return text.substr(0, text.find(" ("));
}

std::uint32_t RangeNames::number(std::string_view text) {
  const std::lock_guard lock(mutex_);
  const auto known = texts_.size();
  const auto number = texts_.id(text);
  const bool is_new = number >= known;
  if (is_new && !wanted_.empty() && (text == wanted_ || plain_range_name(text) == wanted_) &&
      wanted_count_ < kMostWanted) {
    wanted_numbers_[wanted_count_] = number;
    ++wanted_count_;
  }
  return number;
}

std::string RangeNames::text(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  return number < texts_.size() ? std::string(texts_.text(number)) : std::string();
}

bool RangeNames::is_wanted(std::uint32_t number) const noexcept {
  for (std::size_t i = 0; i < wanted_count_.load(std::memory_order_acquire); ++i)
    if (wanted_numbers_[i].load(std::memory_order_relaxed) == number) return true;
  return false;
}

}  // namespace ridgeline::inject
