// SPDX-License-Identifier: Apache-2.0
#include "stream/frame_labels.hpp"

#include <utility>

namespace ridgeline::stream {

void FrameLabels::push(std::uint32_t source, FrameLabel label) {
  const std::lock_guard lock(mutex_);
  waiting_[source].push_back(std::move(label));
}

void FrameLabels::take_back(std::uint32_t source) {
  const std::lock_guard lock(mutex_);
  waiting_[source].pop_back();
}

void FrameLabels::repeat(std::uint32_t source, std::vector<FrameLabel> labels) {
  const std::lock_guard lock(mutex_);
  if (!labels.empty()) repeated_[source] = std::move(labels);
}

FrameLabel FrameLabels::take(std::uint32_t source, std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  if (const auto found = repeated_.find(source); found != repeated_.end())
    return found->second[sequence % found->second.size()];
  const auto found = waiting_.find(source);
  if (found == waiting_.end() || found->second.empty()) return {};
  auto label = std::move(found->second.front());
  found->second.pop_front();
  return label;
}

}  // namespace ridgeline::stream
