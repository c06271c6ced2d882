// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "tracefile/string_table.hpp"

namespace ridgeline::inject {

/// Names of ranges, by numbers that stay the same in a process; from any thread.
class RangeNames {
 public:
  /// `wanted`: of Options::range; "": none.
  explicit RangeNames(std::string wanted) : wanted_(std::move(wanted)) {}

  [[nodiscard]] std::uint32_t number(std::string_view text);
  [[nodiscard]] std::string text(std::uint32_t number);
  /// Whether it is the range that was asked for: an NVTX range of that name, or a call of a module whose path it is.
  [[nodiscard]] bool is_wanted(std::uint32_t number) const noexcept;

 private:
  static constexpr std::size_t kMostWanted = 16;  // a path in several models, or of several classes

  const std::string wanted_;
  std::mutex mutex_;
  trace::StringTable texts_;
  std::array<std::atomic<std::uint32_t>, kMostWanted> wanted_numbers_{};
  std::atomic<std::size_t> wanted_count_ = 0;
};

/// "nn.Module: layer1.0 (Block)" is the module "layer1.0"; any other name is itself.
[[nodiscard]] std::string_view plain_range_name(std::string_view text);

}  // namespace ridgeline::inject
