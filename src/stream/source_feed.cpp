// SPDX-License-Identifier: Apache-2.0
#include "stream/source_feed.hpp"

#include <algorithm>
#include <utility>

namespace ridgeline::stream {
namespace {

/// So long a sleep at most: whoever stops the pipeline should not wait for a paused video.
constexpr base::Nanoseconds kNap = std::chrono::milliseconds(50);

void sleep_until(const base::Clock& clock, std::int64_t due_ns, const Pipeline& pipeline) {
  for (;;) {
    const auto left = base::Nanoseconds(due_ns) - clock.now();
    if (left.count() <= 0 || !pipeline.takes()) return;
    clock.sleep_for(std::min(left, kNap));
  }
}

}  // namespace

base::Result<std::optional<TakenFrame>> take_frame(FrameSource& source, ImagePool& pool) {
  TakenFrame out{pool.take()};
  RL_TRY_ASSIGN(const auto pts, source.next(*out.image));
  if (!pts) return std::nullopt;
  out.pts_ns = *pts;
  if (source.info().has_labels) out.label = source.label();
  if (!out.label.damage.empty()) out.image = nullptr;
  return out;
}

base::Result<std::uint64_t> feed(FrameSource& source, Pipeline& pipeline, ImagePool& pool, const FeedOptions& options,
                                 std::vector<TakenFrame> first) {
  std::uint64_t taken = 0;
  std::optional<base::Error> error;
  std::int64_t start_ns = 0;
  std::int64_t first_pts_ns = 0;
  auto* const labels = source.info().has_labels ? options.labels : nullptr;
  while (options.most_frames == 0 || taken < static_cast<std::uint64_t>(options.most_frames)) {
    TakenFrame now;
    if (taken < first.size()) {
      now = std::move(first[taken]);
    } else {
      auto next = take_frame(source, pool);
      if (!next && next.error().code != base::ErrorCode::cancelled) error = next.error();
      if (!next || !*next) break;
      now = std::move(**next);
    }
    if (taken == 0) {
      start_ns = options.clock->now().count();
      first_pts_ns = now.pts_ns;
    }
    NewFrame frame{options.source, std::move(now.image), now.pts_ns, {}, options.pace == Pace::fastest};
    if (options.pace == Pace::realtime) {
      frame.due_ns = start_ns + (now.pts_ns - first_pts_ns);
      sleep_until(*options.clock, *frame.due_ns, pipeline);
    } else if (options.pace == Pace::live) {
      frame.due_ns = options.clock->now().count();
    }
    const bool is_damaged = frame.image == nullptr;
    if (labels != nullptr) labels->push(options.source, std::move(now.label));
    if ((is_damaged ? pipeline.offer_damaged(std::move(frame)) : pipeline.offer(std::move(frame))) == Offered::ended) {
      if (labels != nullptr) labels->take_back(options.source);
      break;
    }
    ++taken;
  }
  pipeline.close(options.source);
  if (error) return tl::unexpected(std::move(*error));
  return taken;
}

}  // namespace ridgeline::stream
