// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "tracefile/string_table.hpp"

namespace ridgeline::inject {

/// Names of ranges, by numbers that stay the same in a process; from any thread.
class RangeNames {
 public:
  [[nodiscard]] std::uint32_t number(std::string_view text) {
    const std::lock_guard lock(mutex_);
    return texts_.id(text);
  }
  [[nodiscard]] std::string text(std::uint32_t number) {
    const std::lock_guard lock(mutex_);
    return number < texts_.size() ? std::string(texts_.text(number)) : std::string();
  }

 private:
  std::mutex mutex_;
  trace::StringTable texts_;
};

}  // namespace ridgeline::inject
