// SPDX-License-Identifier: Apache-2.0
#include "stream/frame_queue.hpp"

#include <algorithm>

namespace ridgeline::stream {

FrameQueue::FrameQueue(std::size_t capacity, DropPolicy policy)
    : capacity_(std::max<std::size_t>(capacity, 1)), policy_(policy) {}

std::size_t FrameQueue::held(std::uint32_t source) const noexcept {
  return source < sources_.size() ? sources_[source].held : 0;
}

bool FrameQueue::has_room(std::uint32_t source) const noexcept {
  return size_ + (held(source) == 0 ? 0 : open_without_frames_) < capacity_;
}

void FrameQueue::set_capacity(std::size_t capacity) noexcept { capacity_ = std::max<std::size_t>(capacity, 1); }

FrameQueue::Source& FrameQueue::open(std::uint32_t source) {
  if (source >= sources_.size()) sources_.resize(source + 1);
  auto& entry = sources_[source];
  if (!entry.open) {
    entry.open = true;
    if (entry.held == 0) ++open_without_frames_;
  }
  return entry;
}

void FrameQueue::close(std::uint32_t source) {
  if (source >= sources_.size() || !sources_[source].open) return;
  sources_[source].open = false;
  if (sources_[source].held == 0) --open_without_frames_;
}

Admitted FrameQueue::push(const Frame& frame) {
  const auto& source = open(frame.source);
  if (policy_ == DropPolicy::none) {
    if (!has_room(frame.source)) return {Admission::must_wait};
    append(frame);
    return {};
  }
  if (size_ < capacity_) {
    append(frame);
    return {};
  }
  // The frame that comes counts as held: a source pushes its own frames out once it holds as many as any other.
  const std::uint32_t most = holdings_.top();
  const bool own = source.held + 1 >= sources_[most].held;
  if (own && policy_ == DropPolicy::newest) return {Admission::refused, frame};
  const auto& victim = own ? source : sources_[most];
  const Index leaves = policy_ == DropPolicy::newest ? victim.last : victim.held > 0 ? victim.first : oldest_;
  const Frame dropped = remove(leaves);
  append(frame);
  return {Admission::accepted, dropped};
}

void FrameQueue::append(const Frame& frame) {
  Index at = kNone;
  if (free_.empty()) {
    at = static_cast<Index>(nodes_.size());
    nodes_.push_back({frame});
  } else {
    at = free_.back();
    free_.pop_back();
    nodes_[at] = {frame};
  }
  auto& source = sources_[frame.source];
  auto& node = nodes_[at];
  node.older = source.last;
  node.older_of_all = newest_;
  (source.last == kNone ? source.first : nodes_[source.last].newer) = at;
  (newest_ == kNone ? oldest_ : nodes_[newest_].newer_of_all) = at;
  source.last = at;
  newest_ = at;
  if (source.held == 0) {
    source.served = std::max(source.served, served_);
    if (source.open) --open_without_frames_;
  }
  ++source.held;
  ++size_;
  reorder(frame.source);
}

Frame FrameQueue::remove(Index at) {
  const auto node = nodes_[at];
  auto& source = sources_[node.frame.source];
  (node.older == kNone ? source.first : nodes_[node.older].newer) = node.newer;
  (node.newer == kNone ? source.last : nodes_[node.newer].older) = node.older;
  (node.older_of_all == kNone ? oldest_ : nodes_[node.older_of_all].newer_of_all) = node.newer_of_all;
  (node.newer_of_all == kNone ? newest_ : nodes_[node.newer_of_all].older_of_all) = node.older_of_all;
  free_.push_back(at);
  --source.held;
  --size_;
  if (source.held == 0 && source.open) ++open_without_frames_;
  reorder(node.frame.source);
  return node.frame;
}

void FrameQueue::reorder(std::uint32_t source) {
  const auto& entry = sources_[source];
  if (entry.held == 0) {
    turns_.erase(source);
    holdings_.erase(source);
    return;
  }
  turns_.set(source, {entry.served, nodes_[entry.first].frame.intended_ns, source});
  if (policy_ != DropPolicy::none)
    holdings_.set(source, {std::numeric_limits<std::size_t>::max() - entry.held, source});
}

const Frame& FrameQueue::next() const noexcept { return nodes_[sources_[turns_.top()].first].frame; }

Frame FrameQueue::take() {
  auto& source = sources_[turns_.top()];
  served_ = source.served++;
  return remove(source.first);
}

Frame FrameQueue::discard() { return remove(sources_[turns_.top()].first); }

const Frame& FrameQueue::oldest() const noexcept { return nodes_[oldest_].frame; }

Frame FrameQueue::discard_oldest() { return remove(oldest_); }

std::optional<std::int64_t> FrameQueue::earliest_deadline() const noexcept {
  std::optional<std::int64_t> earliest;
  for (const auto& source : sources_) {
    if (source.held == 0) continue;
    const auto deadline = nodes_[source.first].frame.deadline_ns;
    if (deadline != 0 && (!earliest || deadline < *earliest)) earliest = deadline;
  }
  return earliest;
}

}  // namespace ridgeline::stream
