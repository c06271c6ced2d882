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

base::Result<std::uint64_t> feed(FrameSource& source, Pipeline& pipeline, ImagePool& pool, const FeedOptions& options,
                                 std::optional<std::pair<std::shared_ptr<Image>, std::int64_t>> first) {
  std::uint64_t taken = 0;
  std::optional<base::Error> error;
  std::int64_t start_ns = 0;
  std::int64_t first_pts_ns = 0;
  while (options.most_frames == 0 || taken < static_cast<std::uint64_t>(options.most_frames)) {
    std::shared_ptr<Image> image;
    std::int64_t pts_ns = 0;
    if (first) {
      std::tie(image, pts_ns) = *std::exchange(first, std::nullopt);
    } else {
      image = pool.take();
      const auto next = source.next(*image);
      if (!next && next.error().code != base::ErrorCode::cancelled) error = next.error();
      if (!next || !*next) break;
      pts_ns = **next;
    }
    if (taken == 0) {
      start_ns = options.clock->now().count();
      first_pts_ns = pts_ns;
    }
    NewFrame frame{options.source, std::move(image), pts_ns, {}, options.pace == Pace::fastest};
    if (options.pace == Pace::realtime) {
      frame.due_ns = start_ns + (pts_ns - first_pts_ns);
      sleep_until(*options.clock, *frame.due_ns, pipeline);
    } else if (options.pace == Pace::live) {
      frame.due_ns = options.clock->now().count();
    }
    if (pipeline.offer(std::move(frame)) == Offered::ended) break;
    ++taken;
  }
  pipeline.close(options.source);
  if (error) return tl::unexpected(std::move(*error));
  return taken;
}

}  // namespace ridgeline::stream
