// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "stream/dispatcher.hpp"
#include "stream/flow_meter.hpp"
#include "stream/result_order.hpp"

namespace ridgeline::stream {

/// Dispatcher, ResultOrder and FlowMeter as one, so that whatever the dispatcher drops is a gap in order and every
/// frame is counted once. What a pipeline with threads (under one lock) and a simulation drive alike:
///
///     offer(frame, now), complete(worker, now)   as things happen
///     poll(now) -> wake                          after each of them, and at `wake`; then start all of launches()
///     take_results(results)                      then hand them on
///
/// Under a lock, the clock is read while it is held, so that times do not go back. Results that the sink does not take
/// fast enough are kept bounded by hold().
///
/// A frame that was given up on (DropReason::timeout) may still be in the hands of its worker: its payload is free when
/// the worker has completed. Errors are faults of the caller (code internal), after which the figures mean nothing.
class StreamScheduler {
 public:
  /// Frames of a source that may be in the pipeline, results that wait for one before them included. With a drop policy
  /// and an SLO no more come together than give_up_after_ns allows; without either this bounds the memory.
  static constexpr std::size_t kOrderWindow = 65536;

  [[nodiscard]] static base::Result<StreamScheduler> make(const DispatcherOptions& options, ServiceModel model,
                                                          std::size_t order_window = kOrderWindow);

  [[nodiscard]] bool has_room(std::uint32_t source) const noexcept;
  /// must_wait without back-pressure too when the order has no room: a worker does not answer, and nothing may be given
  /// up. A frame that waits is not counted.
  [[nodiscard]] base::Result<Admission> offer(const Frame& frame, std::int64_t now_ns);
  /// A frame that has come in and cannot be executed: a gap in its place. The order must have room (has_order_room).
  [[nodiscard]] base::Result<void> offer_gap(Frame frame, DropReason reason, std::int64_t now_ns);
  [[nodiscard]] bool has_order_room(std::uint32_t source) const noexcept { return order_.has_room(source); }
  /// A frame that is to have no result: it leaves as a gap (skipped) once those before it have. must_wait when the
  /// order has no room.
  [[nodiscard]] base::Result<Admission> skip(const Frame& frame, std::int64_t now_ns);
  void close(std::uint32_t source) { dispatcher_.close(source); }
  void drain() noexcept { dispatcher_.drain(); }
  /// While held nothing is launched: for as long as results have nowhere to go.
  void hold(bool held) noexcept { dispatcher_.hold(held); }
  /// When to poll again at the latest; none: only after an offer or completion.
  [[nodiscard]] base::Result<std::optional<std::int64_t>> poll(std::int64_t now_ns);
  /// What the last poll started.
  [[nodiscard]] const std::vector<Launch>& launches() const noexcept { return decisions_.launches; }
  /// As Dispatcher::leave_session; poll afterwards.
  void leave_session(std::uint32_t worker) noexcept { dispatcher_.leave_session(worker); }
  /// Without a reason the frames have results; with one (failed, crashed) they are gaps.
  [[nodiscard]] base::Result<void> complete(std::uint32_t worker, std::int64_t now_ns,
                                            std::optional<DropReason> failure = {});
  /// Drops all that wait for a worker; what runs completes as usual.
  [[nodiscard]] base::Result<void> stop(std::int64_t now_ns);

  /// What the last offer, poll or stop dropped, some of it long before its turn to leave: payloads that can be freed,
  /// except after a timeout.
  [[nodiscard]] const std::vector<DroppedFrame>& dropped() const noexcept { return decisions_.dropped; }

  /// What has left since the last call, in order for each source. Swaps, so that both vectors keep their memory.
  void take_results(std::vector<FrameResult>& results);

  /// Results that wait for one before them.
  [[nodiscard]] std::size_t held() const noexcept { return order_.held(); }
  /// Frames offered that have not left.
  [[nodiscard]] std::size_t in_flight() const noexcept { return order_.awaited(); }
  [[nodiscard]] const Dispatcher& dispatcher() const noexcept { return dispatcher_; }
  [[nodiscard]] const FlowMeter& meter() const noexcept { return meter_; }

 private:
  StreamScheduler(Dispatcher dispatcher, std::size_t order_window);
  [[nodiscard]] base::Result<void> put(FrameResult result, std::int64_t now_ns);
  [[nodiscard]] base::Result<void> put_dropped(std::int64_t now_ns);

  Dispatcher dispatcher_;
  ResultOrder order_;
  FlowMeter meter_;
  Decisions decisions_;
  std::vector<FrameResult> results_;
};

}  // namespace ridgeline::stream
