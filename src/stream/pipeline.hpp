// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "stream/batch_runner.hpp"
#include "stream/frame_store.hpp"
#include "stream/pipeline_options.hpp"
#include "stream/pipeline_status.hpp"
#include "stream/result_sink.hpp"
#include "stream/stream_scheduler.hpp"

namespace ridgeline::stream {

/// What offering a frame came to.
enum class Offered {
  taken,  ///< it will leave as a result or as a gap
  ended,  ///< the pipeline has stopped or failed; it was not counted
};

/// A frame that somebody offers; its number within the source is given by the pipeline.
struct NewFrame {
  std::uint32_t source = 0;
  std::shared_ptr<const Image> image;
  std::int64_t pts_ns = 0;
  /// When it was due, on the pipeline's clock: for sources with a pace, which have deadlines. Unset: its latency counts
  /// from entering the queue.
  std::optional<std::int64_t> due_ns{};
  /// The source can wait (a file): while there is no room it does, and nothing is dropped for it.
  bool may_wait = true;
};

/// StreamScheduler with threads: one a worker, one for what is due later, one for the sink. Frames come from any
/// threads, one a source. Whoever changes something decides what starts next, so that no frame waits for another
/// thread's turn.
class Pipeline {
 public:
  /// Starts the workers and warms every batch size on all of them with `sample`; returns when all are ready. The
  /// runner, the sink and the clock outlive the pipeline. Errors: of the runner; of the options.
  [[nodiscard]] static base::Result<std::unique_ptr<Pipeline>> start(const PipelineOptions& options,
                                                                     BatchRunner& runner, ResultSink& sink,
                                                                     const Image& sample);
  /// Stops, if it was not finished, and waits for its threads.
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  [[nodiscard]] Offered offer(NewFrame frame);
  /// A frame whose picture is damaged: it is counted, and leaves in its turn as a gap (DropReason::damaged).
  [[nodiscard]] Offered offer_damaged(NewFrame frame);
  /// No more frames come from that source.
  void close(std::uint32_t source);
  /// After the last frame: waits until all have left and the sink is done. The first error of the run, if any.
  [[nodiscard]] base::Result<void> finish();
  /// From any thread: nothing more comes in, and what waits for a worker is dropped.
  void stop();
  /// Whether it still takes frames.
  [[nodiscard]] bool takes() const noexcept { return !ended_.load(std::memory_order_relaxed); }

  [[nodiscard]] PipelineStatus status();
  /// Frames that may wait for a worker, by what is known before the first one.
  [[nodiscard]] std::size_t capacity() const noexcept { return scheduler_->dispatcher().capacity(); }
  /// What a batch takes more when the one before it on the same worker was of another size, where that is more than the
  /// largest batch takes, so that all are padded to that one: runtimes that plan anew for each size.
  [[nodiscard]] std::optional<std::int64_t> size_change_ns() const noexcept { return size_change_ns_; }
  /// What the warm-up measured, by size.
  [[nodiscard]] const std::vector<WarmUpTimes>& warm_up() const noexcept { return warm_up_; }

 private:
  struct Worker {
    std::condition_variable wake;
    bool has_work = false;  ///< for its thread: what lies in tickets
    std::uint32_t executed_size = 1;
    std::vector<Frame> tickets;
    // Of the batch under way; kept for their memory.
    std::vector<FrameStore::Slot*> slots;
    std::vector<BatchFrame> frames;
    std::vector<std::string> results;
    std::vector<WarmUpTimes> warm_up;
    std::vector<WarmUpTimes> changed;  ///< each right after a batch of another size
    bool is_warm = false;              ///< or has failed to be
    std::thread thread;
  };

  Pipeline(const PipelineOptions& options, BatchRunner& runner, ResultSink& sink);
  /// On the worker's own thread, as runtimes keep handles and plans by thread, and at the same time as the others.
  void warm(std::uint32_t number, const Image& sample);
  [[nodiscard]] base::Result<void> await_warm_up();
  /// As many as have batches at the same time; the others are warmed after them, and not timed.
  [[nodiscard]] std::span<const std::unique_ptr<Worker>> timed_workers() const noexcept;
  [[nodiscard]] static bool are_warm(std::span<const std::unique_ptr<Worker>> workers) noexcept;
  /// As BatchRunner::on_left.
  void leave_session(std::uint32_t number);
  void work(std::uint32_t number);
  void write();
  void keep_time();
  /// A worker's batch, on the calling thread; the lock is not held meanwhile.
  void run(std::uint32_t number, std::unique_lock<std::mutex>& lock);
  /// Under the mutex: starts what can start and passes on what has left. A worker whose batch is left to the caller,
  /// which may run one.
  std::optional<std::uint32_t> pump(bool may_run = false);
  /// Of frames that were dropped, perhaps long before their turn to leave.
  void free_dropped_images();
  [[nodiscard]] bool may_keep_images() const noexcept;
  void fail(base::Error error);
  void end();
  void count_idle(std::int64_t now_ns);
  [[nodiscard]] bool sink_is_behind() const noexcept;
  [[nodiscard]] std::int64_t now() const noexcept { return options_.clock->now().count(); }

  const PipelineOptions options_;
  BatchRunner& runner_;
  ResultSink& sink_;
  const bool wants_images_;
  std::vector<WarmUpTimes> warm_up_;
  std::optional<std::int64_t> size_change_ns_;

  std::mutex mutex_;
  std::optional<StreamScheduler> scheduler_;
  FrameStore store_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::uint64_t> next_sequence_;  ///< by source
  std::condition_variable warm_;
  std::condition_variable room_;  ///< for sources
  std::condition_variable timer_wake_;
  std::optional<std::int64_t> wake_ns_;
  std::condition_variable writer_wake_;
  std::vector<FrameResult> unwritten_;
  std::vector<FrameResult> left_;  ///< reused
  std::size_t writing_ = 0;        ///< taken by the writer, not written yet
  std::uint64_t written_ = 0;
  std::optional<base::Error> error_;
  bool sink_failed_ = false;  ///< nothing more is written; after other errors what has left still is
  std::optional<base::Error> last_failure_;
  std::uint64_t failures_ = 0;
  std::uint32_t failures_in_a_row_ = 0;
  WorkerTime time_;
  std::int64_t idle_since_ns_ = 0;  ///< when idle time was last added up
  std::size_t held_back_ = 0;       ///< sources that wait for the sink
  bool quit_ = false;               ///< workers and timer end
  bool workers_ended_ = false;      ///< and then the writer
  bool finished_ = false;
  std::atomic<bool> ended_{false};
  std::thread timer_;
  std::thread writer_;
};

}  // namespace ridgeline::stream
