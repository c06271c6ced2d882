// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace ridgeline::host {

/// A processor of this process that one thread has for itself: the calling thread, and every thread that it starts from
/// then on, runs on the others. Other processes may still use it.
class ReservedProcessor {
 public:
  /// Fewer are all needed by the work.
  static constexpr int kLeastProcessors = 8;

  /// The last one that the calling thread may run on; none where it may use fewer than kLeastProcessors.
  [[nodiscard]] static std::optional<ReservedProcessor> take();

  /// Moves the calling thread there; false where the system refuses.
  [[nodiscard]] bool enter() const;
  /// How many are left to the others.
  [[nodiscard]] int left() const noexcept { return left_; }

 private:
  ReservedProcessor(int processor, int left) noexcept : processor_(processor), left_(left) {}
  int processor_;
  int left_;
};

}  // namespace ridgeline::host
