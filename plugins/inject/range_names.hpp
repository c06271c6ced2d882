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

/// Names of ranges, by numbers that stay the same in a process, whatever is recorded of it; from any thread.
class RangeNames {
 public:
  /// Never destroyed.
  [[nodiscard]] static RangeNames& of_process();
  /// In a child, where another thread of the parent may have had the lock: it begins anew.
  static void after_fork();

  /// `name`: of Options::range, from now on; "": none.
  void want(const std::string& name);
  [[nodiscard]] std::uint32_t number(std::string_view text);
  [[nodiscard]] std::string text(std::uint32_t number);
  /// Whether it is the range that was asked for: an NVTX range of that name, or a call of a module whose path it is.
  [[nodiscard]] bool is_wanted(std::uint32_t number) const noexcept;

 private:
  static constexpr std::size_t kMostWanted = 16;  // a path in several models, or of several classes

  void look_at(std::uint32_t number, std::string_view text);

  std::mutex mutex_;
  std::string wanted_;
  trace::StringTable texts_;
  std::array<std::atomic<std::uint32_t>, kMostWanted> wanted_numbers_{};
  std::atomic<std::size_t> wanted_count_ = 0;
};

/// "nn.Module: layer1.0 (Block)" is the module "layer1.0"; any other name is itself.
[[nodiscard]] std::string_view plain_range_name(std::string_view text);

}  // namespace ridgeline::inject
