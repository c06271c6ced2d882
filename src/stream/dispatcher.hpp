// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "stream/frame.hpp"
#include "stream/frame_queue.hpp"
#include "stream/service_model.hpp"

namespace ridgeline::stream {

struct DispatcherOptions {
  std::uint32_t workers = 1;    ///< batches in flight
  std::uint32_t max_batch = 1;  ///< frames of one inference
  /// Frames that wait, over all sources. With back-pressure a place is kept for every open source, so that batches stay
  /// small below max_batch plus the number of sources.
  std::size_t capacity = 64;
  /// Above 0: the capacity is slo_capacity for this SLO instead, of the warm-up first and then of what batches take.
  std::int64_t capacity_slo_ns = 0;
  DropPolicy drop_policy = DropPolicy::oldest;
  std::int64_t frame_timeout_ns = 0;  ///< the longest wait for a fuller batch while a worker is idle
  /// Waits for a fuller batch as long as deadlines allow, instead of frame_timeout_ns: less device time a frame, at the
  /// price of latency and of some peak rate.
  bool use_slack = false;
  bool drop_early = true;     ///< drops a frame at launch when the model says that it will miss its deadline
  std::int64_t guard_ns = 0;  ///< time before a deadline that is kept for what follows the inference
  /// A frame whose worker has not answered so long after its deadline is dropped, so that what is behind it in order
  /// can leave. 0: at its deadline, so that a worker that stands still delays no frame by more than the SLO, but
  /// nothing is delivered late. None: never.
  std::optional<std::int64_t> give_up_after_ns{};
  /// Sessions that the workers share, worker i the session i mod `sessions`; 0: each worker has its own. A session has
  /// at most `session_batches` that have not left it (leave_session): what would only wait for it gathers in the queue
  /// instead, where it can still become part of a fuller batch.
  std::uint32_t sessions = 0;
  std::uint32_t session_batches = 1;
  /// Of all sessions together; 0: as many as they take. One more than there are sessions keeps a device busy that they
  /// share, and what would only wait for it delays nothing.
  std::uint32_t most_batches = 0;

  /// Batches that are in a session at the same time, at most.
  [[nodiscard]] std::uint32_t batches_at_once() const noexcept {
    const auto taken = static_cast<std::uint64_t>(sessions == 0 ? workers : sessions) * session_batches;
    const auto most = most_batches == 0 ? taken : std::min<std::uint64_t>(taken, most_batches);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(workers, most));
  }
};

/// Frames that a worker shall execute together.
struct Launch {
  std::uint32_t worker = 0;
  std::uint32_t executed_size = 1;  ///< the warmed size that the batch is padded to; the number of frames if it is not
  std::span<const Frame> frames;    ///< valid until the worker completes
};

/// What Dispatcher::poll decided; the caller keeps one and passes it again, so that nothing is allocated.
struct Decisions {
  std::vector<Launch> launches;
  std::vector<DroppedFrame> dropped;
  std::optional<std::int64_t> wake_ns;  ///< poll again then, unless an offer or completion comes first
};

struct Completion {
  std::span<const Frame> frames;           ///< as launched; valid until the worker's next launch
  std::span<const std::uint8_t> given_up;  ///< not 0 for those that were reported as dropped before
  std::int64_t launched_ns = 0;
};

/// Decides which frames run where and when, and which are dropped. A state machine: it has no thread and no clock, the
/// caller passes `now`, in nanoseconds, which never goes back. A pipeline drives it under one lock, a simulation in
/// virtual time.
///
/// An idle worker launches at once with what waits, up to max_batch: waiting for a fuller batch lowers the peak rate,
/// since frames gather by themselves while workers are busy.
///
///     dispatcher.offer(frame, now);            // -> accepted, refused (and which frame was dropped) or must_wait
///     dispatcher.poll(now, decisions);         // after every offer and completion, and at decisions.wake_ns
///     dispatcher.leave_session(worker);        // where workers share a session; then poll
///     dispatcher.complete(worker, now, true);  // -> the frames, whose results are those of the launch, row by row
class Dispatcher {
 public:
  /// invalid_argument when an option is out of range or max_batch exceeds the largest warmed size.
  [[nodiscard]] static base::Result<Dispatcher> make(const DispatcherOptions& options, ServiceModel model);

  [[nodiscard]] bool has_room(std::uint32_t source) const noexcept { return queue_.has_room(source); }
  [[nodiscard]] Admitted offer(Frame frame, std::int64_t now_ns);
  /// No more frames come from that source.
  void close(std::uint32_t source) { queue_.close(source); }
  /// No more frames come at all: nothing waits for a fuller batch any longer.
  void drain() noexcept { draining_ = true; }
  /// While held nothing is launched, as results have nowhere to go; what waits is dropped as usual.
  void hold(bool held) noexcept { held_ = held; }
  void poll(std::int64_t now_ns, Decisions& decisions);
  /// That worker's batch has left its session, and what follows concerns the host alone. complete() implies it.
  void leave_session(std::uint32_t worker) noexcept;
  /// internal when that worker runs nothing. A batch that failed teaches the model nothing.
  [[nodiscard]] base::Result<Completion> complete(std::uint32_t worker, std::int64_t now_ns, bool succeeded);
  /// Drops all that wait.
  void stop(std::vector<DroppedFrame>& dropped);

  [[nodiscard]] std::size_t queued() const noexcept { return queue_.size(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return queue_.capacity(); }
  [[nodiscard]] std::uint32_t busy_workers() const noexcept { return busy_; }
  [[nodiscard]] const ServiceModel& model() const noexcept { return model_; }
  [[nodiscard]] const DispatcherOptions& options() const noexcept { return options_; }

 private:
  struct Worker {
    bool busy = false;
    bool in_session = false;
    std::int64_t launched_ns = 0;
    std::optional<std::int64_t> give_up_ns;  ///< when the next of its frames is given up
    std::vector<Frame> frames;
    std::vector<std::uint8_t> given_up;
  };

  Dispatcher(const DispatcherOptions& options, ServiceModel model);
  /// When a batch of what waits should start; the queue must not be empty.
  [[nodiscard]] std::int64_t launch_time() const noexcept;
  /// What a batch of n is taken to need when its frames are dropped or not: between what is expected and what is rarely
  /// exceeded, by caution_.
  [[nodiscard]] std::int64_t planned_ns(std::size_t n) const noexcept;
  void learn_caution(const Worker& worker, std::int64_t now_ns) noexcept;
  /// The largest batch of `least` to `below` - 1 frames that takes no longer.
  [[nodiscard]] std::optional<std::size_t> batch_within(std::int64_t time_ns, std::size_t least,
                                                        std::size_t below) const noexcept;
  /// Moves a batch from the queue to `frames`, dropping what would be late, unless a batch of at least half the size is
  /// in time.
  void fill(std::int64_t now_ns, std::vector<Frame>& frames, std::vector<DroppedFrame>& dropped);
  void launch(std::uint32_t worker, std::int64_t now_ns, Decisions& decisions);
  void give_up_overdue(std::int64_t now_ns, Decisions& decisions);
  void drop_expired(std::int64_t now_ns, Decisions& decisions);
  void plan_give_up(Worker& worker) const;
  [[nodiscard]] std::uint32_t session_of(std::uint32_t worker) const noexcept { return worker % sessions_.size(); }
  /// An idle worker of the session that has the fewest batches, if that one takes another.
  [[nodiscard]] std::optional<std::uint32_t> free_worker() const noexcept;
  void follow_slo() noexcept;

  DispatcherOptions options_;
  ServiceModel model_;
  FrameQueue queue_;
  std::vector<Worker> workers_;
  std::vector<std::uint32_t> sessions_;  ///< batches that have not left it, by session
  std::uint32_t in_sessions_ = 0;        ///< their sum
  std::uint32_t busy_ = 0;
  /// 0: plans with what is expected of batches, 1: with what they rarely exceed; up to 2. Late frames raise it, others
  /// lower it, so that frames are dropped that would be late and not those that could be.
  double caution_ = 0;
  bool draining_ = false;
  bool held_ = false;
};

}  // namespace ridgeline::stream
