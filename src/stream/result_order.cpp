// SPDX-License-Identifier: Apache-2.0
#include "stream/result_order.hpp"

#include <algorithm>
#include <utility>

namespace ridgeline::stream {
namespace {

constexpr std::size_t kFirstRing = 64;

}  // namespace

ResultOrder::ResultOrder(std::size_t window) : window_(std::max<std::size_t>(window, 1)) {}

ResultOrder::Source& ResultOrder::source_of(std::uint32_t source) {
  if (source >= sources_.size()) sources_.resize(source + 1);
  return sources_[source];
}

bool ResultOrder::has_room(std::uint32_t source) const noexcept {
  return source >= sources_.size() || sources_[source].announced - sources_[source].next < window_;
}

base::Result<void> ResultOrder::announce(std::uint32_t source, std::uint64_t sequence) {
  auto& entry = source_of(source);
  if (sequence != entry.announced)
    return base::fail(base::ErrorCode::internal, "frame {} of source {} came where {} was expected", sequence, source,
                      entry.announced);
  const std::size_t awaited = entry.announced - entry.next;
  if (awaited >= window_)
    return base::fail(base::ErrorCode::internal, "source {} has {} frames in order already, the most", source, window_);
  if (awaited == entry.ring.size()) {
    std::vector<std::optional<FrameResult>> larger(std::max(kFirstRing, 2 * entry.ring.size()));
    for (auto n = entry.next; n < entry.announced; ++n)
      larger[n % larger.size()] = std::move(entry.ring[n % entry.ring.size()]);
    entry.ring = std::move(larger);
  }
  ++entry.announced;
  ++awaited_;
  return {};
}

base::Result<void> ResultOrder::put(const FrameResult& result, std::vector<FrameResult>& out) {
  const auto source = result.frame.source;
  const auto sequence = result.frame.sequence;
  if (source >= sources_.size() || sequence >= sources_[source].announced)
    return base::fail(base::ErrorCode::internal, "a result for frame {} of source {}, which never came in", sequence,
                      source);
  auto& entry = sources_[source];
  auto& place = entry.ring[sequence % entry.ring.size()];
  if (sequence < entry.next || place)
    return base::fail(base::ErrorCode::internal, "a second result for frame {} of source {}", sequence, source);
  if (sequence != entry.next) {
    place = result;
    ++held_;
    return {};
  }
  out.push_back(result);
  ++entry.next;
  --awaited_;
  while (entry.next < entry.announced) {
    auto& waiting = entry.ring[entry.next % entry.ring.size()];
    if (!waiting) break;
    out.push_back(*waiting);
    waiting.reset();
    ++entry.next;
    --awaited_;
    --held_;
  }
  return {};
}

}  // namespace ridgeline::stream
