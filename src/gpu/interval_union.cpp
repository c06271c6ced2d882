// SPDX-License-Identifier: Apache-2.0
#include "gpu/interval_union.hpp"

#include <algorithm>
#include <iterator>

namespace ridgeline::gpu {

void IntervalUnion::add(std::int64_t start_ns, std::int64_t end_ns) {
  const std::lock_guard lock(mutex_);
  start_ns = std::max(start_ns, settled_until_);
  if (end_ns <= start_ns) return;
  auto after = parts_.upper_bound(start_ns);
  if (after != parts_.begin() && std::prev(after)->second >= start_ns) --after;
  while (after != parts_.end() && after->first <= end_ns) {
    start_ns = std::min(start_ns, after->first);
    end_ns = std::max(end_ns, after->second);
    after = parts_.erase(after);
  }
  parts_.emplace(start_ns, end_ns);
  const auto settled = parts_.rbegin()->second - kWindowNs;
  while (parts_.begin()->second <= settled) {
    settled_ns_ += parts_.begin()->second - parts_.begin()->first;
    settled_until_ = parts_.begin()->second;
    parts_.erase(parts_.begin());
  }
}

std::int64_t IntervalUnion::covered_ns() const {
  const std::lock_guard lock(mutex_);
  auto covered = settled_ns_;
  for (const auto& [start, end] : parts_) covered += end - start;
  return covered;
}

}  // namespace ridgeline::gpu
