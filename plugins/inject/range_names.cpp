// SPDX-License-Identifier: Apache-2.0
#include "range_names.hpp"

namespace ridgeline::inject {
namespace {

std::atomic<RangeNames*> names_of_process = nullptr;

}  // namespace

std::string_view plain_range_name(std::string_view text) {
  constexpr std::string_view kModule = "nn.Module: ";
  if (!text.starts_with(kModule)) return text;
  text.remove_prefix(kModule.size());
  return text.substr(0, text.find(" ("));
}

RangeNames& RangeNames::of_process() {
  auto* names = names_of_process.load(std::memory_order_acquire);
  if (names != nullptr) return *names;
  auto* made = new RangeNames;
  if (names_of_process.compare_exchange_strong(names, made)) return *made;
  delete made;
  return *names;
}

void RangeNames::after_fork() { names_of_process = nullptr; }

void RangeNames::want(const std::string& name) {
  const std::lock_guard lock(mutex_);
  wanted_ = name;
  wanted_count_ = 0;
  if (wanted_.empty()) return;
  for (std::uint32_t number = 0; number < texts_.size(); ++number) look_at(number, texts_.text(number));
}

void RangeNames::look_at(std::uint32_t number, std::string_view text) {
  if ((text != wanted_ && plain_range_name(text) != wanted_) || wanted_count_ >= kMostWanted) return;
  wanted_numbers_[wanted_count_] = number;
  ++wanted_count_;
}

std::uint32_t RangeNames::number(std::string_view text) {
  const std::lock_guard lock(mutex_);
  const auto known = texts_.size();
  const auto number = texts_.id(text);
  if (number >= known && !wanted_.empty()) look_at(number, text);
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
