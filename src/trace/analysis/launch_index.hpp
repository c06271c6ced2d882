// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trace/analysis/nesting.hpp"

namespace ridgeline::trace {

/// Whether any call is joined with what it launched.
[[nodiscard]] bool has_launches(const ApiCalls& calls);

/// Finds the call that launched work of a GPU: that of the same correlation in the same process, or in any where the
/// file does not tell the process of GPU work. Of several calls of one correlation (runtime and driver) it is the outer
/// one, which the program made and which begins first. At most 16 bytes a call.
class LaunchIndex {
 public:
  /// `trace` must outlive the object and keep its calls.
  explicit LaunchIndex(const Trace& trace);

  /// Into Trace::calls; kNowhere: none.
  [[nodiscard]] Place call_of(std::int64_t process, std::int64_t correlation) const;
  /// Into Trace::calls, one for each of these spans, which are of GPU lanes; kNowhere: none.
  [[nodiscard]] std::vector<Place> calls_of(const Spans& work) const;

 private:
  [[nodiscard]] std::size_t slot_of(std::int64_t correlation) const noexcept;
  [[nodiscard]] std::int64_t process_of(Place call) const {
    return trace_.thread_lanes[trace_.calls.lane[call]].process;
  }
  void insert(Place call);

  const Trace& trace_;
  std::vector<Place> slots_;  ///< by the hash of the correlation, else the next free one; a power of two of them
};

}  // namespace ridgeline::trace
