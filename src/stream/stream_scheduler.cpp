// SPDX-License-Identifier: Apache-2.0
#include "stream/stream_scheduler.hpp"

#include <utility>

namespace ridgeline::stream {

base::Result<StreamScheduler> StreamScheduler::make(const DispatcherOptions& options, ServiceModel model,
                                                    std::size_t order_window) {
  RL_TRY_ASSIGN(auto dispatcher, Dispatcher::make(options, std::move(model)));
  return StreamScheduler(std::move(dispatcher), order_window);
}

StreamScheduler::StreamScheduler(Dispatcher dispatcher, std::size_t order_window)
    : dispatcher_(std::move(dispatcher)), order_(order_window) {}

bool StreamScheduler::has_room(std::uint32_t source) const noexcept {
  return order_.has_room(source) && dispatcher_.has_room(source);
}

base::Result<Admission> StreamScheduler::offer(const Frame& frame, std::int64_t now_ns) {
  decisions_.dropped.clear();
  if (!order_.has_room(frame.source)) return Admission::must_wait;
  const auto admitted = dispatcher_.offer(frame, now_ns);
  if (admitted.admission == Admission::must_wait) return Admission::must_wait;
  RL_TRY(order_.announce(frame.source, frame.sequence));
  meter_.enter(now_ns);
  if (admitted.dropped) decisions_.dropped.push_back({*admitted.dropped, DropReason::queue_full});
  RL_TRY(put_dropped(now_ns));
  return admitted.admission;
}

base::Result<void> StreamScheduler::offer_gap(Frame frame, DropReason reason, std::int64_t now_ns) {
  frame.entered_ns = now_ns;
  RL_TRY(order_.announce(frame.source, frame.sequence));
  meter_.enter(now_ns);
  return put({.frame = frame, .dropped = reason, .done_ns = now_ns}, now_ns);
}

base::Result<Admission> StreamScheduler::skip(const Frame& frame, std::int64_t now_ns) {
  decisions_.dropped.clear();
  if (!order_.has_room(frame.source)) return Admission::must_wait;
  RL_TRY(offer_gap(frame, DropReason::skipped, now_ns));
  return Admission::accepted;
}

base::Result<std::optional<std::int64_t>> StreamScheduler::poll(std::int64_t now_ns) {
  dispatcher_.poll(now_ns, decisions_);
  for (const auto& launch : decisions_.launches)
    meter_.launch(static_cast<std::uint32_t>(launch.frames.size()), now_ns);
  RL_TRY(put_dropped(now_ns));
  return decisions_.wake_ns;
}

base::Result<void> StreamScheduler::complete(std::uint32_t worker, std::int64_t now_ns,
                                             std::optional<DropReason> failure) {
  RL_TRY_ASSIGN(const auto completion, dispatcher_.complete(worker, now_ns, !failure));
  meter_.complete(now_ns);
  FrameResult result;
  result.dropped = failure;
  result.batch = static_cast<std::uint32_t>(completion.frames.size());
  result.launched_ns = completion.launched_ns;
  result.done_ns = now_ns;
  for (std::size_t i = 0; i < completion.frames.size(); ++i) {
    if (completion.given_up[i] != 0) continue;
    result.frame = completion.frames[i];
    RL_TRY(put(result, now_ns));
  }
  return {};
}

base::Result<void> StreamScheduler::stop(std::int64_t now_ns) {
  decisions_.dropped.clear();
  dispatcher_.stop(decisions_.dropped);
  return put_dropped(now_ns);
}

base::Result<void> StreamScheduler::put_dropped(std::int64_t now_ns) {
  for (const auto& [frame, reason] : decisions_.dropped)
    RL_TRY(put({.frame = frame, .dropped = reason, .done_ns = now_ns}, now_ns));
  return {};
}

base::Result<void> StreamScheduler::put(FrameResult result, std::int64_t now_ns) {
  const std::size_t before = results_.size();
  RL_TRY(order_.put(result, results_));
  for (std::size_t i = before; i < results_.size(); ++i) {
    results_[i].left_ns = now_ns;
    meter_.leave(results_[i]);
  }
  return {};
}

void StreamScheduler::take_results(std::vector<FrameResult>& results) {
  results.clear();
  results.swap(results_);
}

}  // namespace ridgeline::stream
