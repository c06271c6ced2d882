// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace ridgeline::host {

/// Copies between two arrays far larger than caches, 256 MiB together.
class MemorySpeed {
 public:
  /// Brings their pages in. 0 threads: one for each CPU that this process may use.
  explicit MemorySpeed(int threads);
  /// Bytes a second, read and written together, of one pass by all threads.
  [[nodiscard]] double measure();

 private:
  int threads_;
  std::vector<char> from_;
  std::vector<char> to_;
};

}  // namespace ridgeline::host
