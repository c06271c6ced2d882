// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ridgeline::inject {

/// Measures what recording costs on the program itself, on steps after the recorded ones: blocks of steps without and
/// with recording alternate, beginning and ending without, so that a slow drift of the step time cancels.
class StepCost {
 public:
  struct Result {
    std::int64_t without_ns = 0;  ///< median step
    std::int64_t with_ns = 0;
    std::int64_t spread_ns = 0;  ///< the largest difference between the median of a block and that of all of its kind
  };

  /// A step begins. Whether it is to be recorded; after the last block never.
  bool step_begins(std::int64_t now_ns);
  /// nullopt: the program has not made all of the steps.
  [[nodiscard]] std::optional<Result> result() const;

 private:
  static constexpr std::size_t kBlocks = 5;
  static constexpr std::size_t kSteps = 4;  ///< per block; the first pays for the change, and does not count

  std::size_t begun_ = 0;  ///< steps
  std::int64_t last_ns_ = 0;
  std::array<std::vector<std::int64_t>, kBlocks> durations_;
};

}  // namespace ridgeline::inject
