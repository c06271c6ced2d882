// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/export/slice.hpp"

namespace ridgeline::trace {

/// Arrows from the call that launched a kernel, a copy or a set to that work, numbered from 1. There is none where the
/// work began before the call, as clocks that were matched badly make it: viewers take no arrow that points back.
/// About 8 bytes an arrow and 4 a call.
class LaunchFlows {
 public:
  explicit LaunchFlows(const Trace& trace);

  /// Of work that this call launched.
  [[nodiscard]] std::span<const std::uint32_t> of_call(Place call) const;
  /// Of a kernel, a copy or a set; 0: none, as for slices of other tables.
  [[nodiscard]] std::uint32_t of_work(Slice slice) const;
  /// The call at the beginning of the arrow to that slice; kNowhere: none.
  [[nodiscard]] Place call_of(Slice slice) const;

 private:
  static constexpr std::size_t kWork = 3;
  [[nodiscard]] static std::size_t index_of(Table table);

  std::vector<Place> calls_[kWork];     ///< of each kernel, copy and set
  std::uint32_t first_[kWork]{};        ///< number of the arrow of the first row of each
  std::vector<std::uint32_t> offsets_;  ///< into flows_, one more than there are calls
  std::vector<std::uint32_t> flows_;
};

}  // namespace ridgeline::trace
