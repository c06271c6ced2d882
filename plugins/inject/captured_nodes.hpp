// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ridgeline::inject {

/// Nodes of CUDA graphs, each with where it was captured: a path as a number of RangeNames. From any thread.
class CapturedNodes {
 public:
  struct Node {
    std::uint64_t node = 0;
    std::uint32_t path = 0;
  };

  void created(std::uint64_t node, std::uint32_t path) {
    const std::lock_guard lock(mutex_);
    paths_[node] = path;
    new_.push_back({node, path});
  }
  /// What is replayed is a copy of what was captured.
  void cloned(std::uint64_t original, std::uint64_t copy) {
    const std::lock_guard lock(mutex_);
    const auto found = paths_.find(original);
    if (found == paths_.end()) return;
    const auto path = found->second;
    paths_[copy] = path;
    new_.push_back({copy, path});
  }
  /// Since the last call.
  [[nodiscard]] std::vector<Node> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(new_, {});
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint32_t> paths_;
  std::vector<Node> new_;
};

}  // namespace ridgeline::inject
