// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace ridgeline::inject {

/// Whether kernels of different streams ran at once. Records of a stream come in its order, those of several in any, so
/// each kernel is compared with the latest of the other streams.
class StreamOverlap {
 public:
  void add(std::uint32_t device, std::uint32_t stream, std::uint64_t start, std::uint64_t end) {
    if (found_) return;
    Kernel* same = nullptr;
    for (auto& latest : latest_) {
      if (latest.device != device) continue;
      if (latest.stream == stream)
        same = &latest;
      else
        found_ = found_ || (start < latest.end && latest.start < end);
    }
    if (same != nullptr)
      *same = {device, stream, start, end};
    else
      latest_.push_back({device, stream, start, end});
  }
  [[nodiscard]] bool found() const noexcept { return found_; }

 private:
  struct Kernel {
    std::uint32_t device = 0;
    std::uint32_t stream = 0;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
  };
  std::vector<Kernel> latest_;  ///< of each stream
  bool found_ = false;
};

}  // namespace ridgeline::inject
