// SPDX-License-Identifier: Apache-2.0
#include "stream/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "stream/size_change.hpp"

namespace ridgeline::stream {
base::Result<std::unique_ptr<Pipeline>> Pipeline::start(const PipelineOptions& options, BatchRunner& runner,
                                                        ResultSink& sink, const Image& sample) {
  std::unique_ptr<Pipeline> out(new Pipeline(options, runner, sink));
  auto* self = out.get();
  for (std::uint32_t i = 0; i < options.dispatcher.workers; ++i)
    out->workers_[i]->thread = std::thread([self, i, &sample] {
      self->warm(i, sample);
      self->work(i);
    });
  RL_TRY(out->await_warm_up());
  RL_TRY_ASSIGN(auto model, out->size_change_ns_ ? ServiceModel::make({out->warm_up_.back()}, BatchShape::padded)
                                                 : ServiceModel::make(out->warm_up_, options.shape));
  RL_TRY_ASSIGN(auto scheduler, StreamScheduler::make(options.dispatcher, std::move(model), options.order_window));
  out->scheduler_.emplace(std::move(scheduler));
  out->idle_since_ns_ = out->now();
  runner.on_left([self](std::uint32_t worker) { self->leave_session(worker); });
  out->timer_ = std::thread([self] { self->keep_time(); });
  out->writer_ = std::thread([self] { self->write(); });
  return out;
}

Pipeline::Pipeline(const PipelineOptions& options, BatchRunner& runner, ResultSink& sink)
    : options_(options), runner_(runner), sink_(sink), wants_images_(sink.wants_images()) {
  for (std::uint32_t i = 0; i < options.dispatcher.workers; ++i) workers_.push_back(std::make_unique<Worker>());
  time_.workers = options.dispatcher.workers;
}

Pipeline::~Pipeline() {
  stop();
  {
    const std::lock_guard lock(mutex_);
    end();
    quit_ = true;
  }
  timer_wake_.notify_all();
  for (const auto& worker : workers_) {
    worker->wake.notify_all();
    if (worker->thread.joinable()) worker->thread.join();
  }
  if (timer_.joinable()) timer_.join();
  {
    const std::lock_guard lock(mutex_);
    workers_ended_ = true;
  }
  runner_.on_left(nullptr);
  writer_wake_.notify_all();
  if (writer_.joinable()) writer_.join();
}

void Pipeline::warm(std::uint32_t number, const Image& sample) {
  auto& own = *workers_[number];
  if (number >= timed_workers().size()) {
    // More batches at once than will ever run would make each look slower than it is.
    std::unique_lock lock(mutex_);
    warm_.wait(lock, [&] { return are_warm(timed_workers()); });
  }
  const auto time_one = [&](std::uint32_t size) -> base::Result<std::int64_t> {
    const std::vector<BatchFrame> frames(size, {.image = &sample, .is_sample = true});
    own.results.resize(size);
    const auto begun = now();
    RL_TRY(runner_.run(number, frames, size, own.results));
    return std::max<std::int64_t>(1, now() - begun);
  };
  const auto run_all = [&]() -> base::Result<void> {
    for (const auto size : options_.warm_sizes) {
      WarmUpTimes& of_size = own.warm_up.emplace_back();
      of_size.batch = size;
      for (std::uint32_t run = 0; run <= options_.warm_runs; ++run) {
        RL_TRY_ASSIGN(const auto took_ns, time_one(size));
        if (run > 0) of_size.times_ns.push_back(took_ns);
      }
    }
    if (options_.warm_sizes.size() < 2) return {};
    for (const auto size : options_.warm_sizes) {
      RL_TRY_ASSIGN(const auto took_ns, time_one(size));
      own.changed.push_back({size, {took_ns}});
    }
    return {};
  };
  auto ran = run_all();
  const std::lock_guard lock(mutex_);
  if (!ran && !error_) error_ = std::move(ran).error();
  own.is_warm = true;
  warm_.notify_all();
}

std::span<const std::unique_ptr<Pipeline::Worker>> Pipeline::timed_workers() const noexcept {
  return std::span(workers_).first(options_.dispatcher.batches_at_once());
}

bool Pipeline::are_warm(std::span<const std::unique_ptr<Worker>> workers) noexcept {
  return std::ranges::all_of(workers, [](const auto& worker) { return worker->is_warm; });
}

base::Result<void> Pipeline::await_warm_up() {
  std::unique_lock lock(mutex_);
  warm_.wait(lock, [&] { return are_warm(workers_); });
  if (error_) return tl::unexpected(*error_);
  warm_up_ = workers_.front()->warm_up;
  for (const auto& worker : timed_workers().subspan(1))
    for (std::size_t size = 0; size < warm_up_.size(); ++size) {
      const auto& times = worker->warm_up[size].times_ns;
      warm_up_[size].times_ns.insert(warm_up_[size].times_ns.end(), times.begin(), times.end());
    }
  std::vector<WarmUpTimes> changed;
  for (const auto& worker : timed_workers())
    changed.insert(changed.end(), worker->changed.begin(), worker->changed.end());
  size_change_ns_ = size_change_cost(warm_up_, changed);
  return {};
}

bool Pipeline::may_keep_images() const noexcept {
  return wants_images_ && unwritten_.size() + writing_ + scheduler_->held() <= options_.most_images();
}

void Pipeline::free_dropped_images() {
  if (may_keep_images()) return;
  for (const auto& dropped : scheduler_->dropped()) store_.drop_image(dropped.frame.payload);
}

/// Results that wait for one before them count: a worker that stands still would let all of a file in.
bool Pipeline::sink_is_behind() const noexcept {
  return unwritten_.size() + writing_ + scheduler_->held() >= options_.result_queue;
}

Offered Pipeline::offer(NewFrame frame) {
  std::unique_lock lock(mutex_);
  const auto wait = [&](bool for_sink) {
    held_back_ += for_sink ? 1 : 0;
    if (for_sink) count_idle(now());
    room_.wait(lock);
    if (for_sink) count_idle(now());
    held_back_ -= for_sink ? 1 : 0;
  };
  if (frame.source >= next_sequence_.size()) next_sequence_.resize(frame.source + 1, 0);
  if (frame.may_wait) {
    while (takes() && (sink_is_behind() || !scheduler_->has_room(frame.source))) wait(sink_is_behind());
  } else {
    // What leaves as a gap waits for the sink too: memory is bounded by making even this source wait.
    while (takes() && unwritten_.size() + writing_ >= options_.order_window) wait(true);
  }
  Frame ticket;
  ticket.source = frame.source;
  ticket.pts_ns = frame.pts_ns;
  const bool is_skipped = options_.every > 1 && next_sequence_[frame.source] % options_.every != 0;
  ticket.payload = store_.add(is_skipped && !may_keep_images() ? nullptr : std::move(frame.image));
  for (;;) {
    if (!takes()) {
      store_.release(ticket.payload);
      return Offered::ended;
    }
    const auto now_ns = now();
    ticket.sequence = next_sequence_[frame.source];
    ticket.intended_ns = frame.due_ns.value_or(now_ns);
    ticket.deadline_ns = frame.due_ns && options_.slo_ns > 0 ? *frame.due_ns + options_.slo_ns : 0;
    count_idle(now_ns);
    const auto admitted = is_skipped ? scheduler_->skip(ticket, now_ns) : scheduler_->offer(ticket, now_ns);
    if (!admitted) {
      store_.release(ticket.payload);
      fail(admitted.error());
      return Offered::ended;
    }
    if (*admitted != Admission::must_wait) break;
    wait(false);
  }
  free_dropped_images();
  ++next_sequence_[frame.source];
  if (options_.on_taken) options_.on_taken(frame.source, next_sequence_[frame.source]);
  if (const auto worker = pump(true)) run(*worker, lock);
  return Offered::taken;
}

Offered Pipeline::offer_damaged(NewFrame frame) {
  std::unique_lock lock(mutex_);
  if (frame.source >= next_sequence_.size()) next_sequence_.resize(frame.source + 1, 0);
  while (takes() && (sink_is_behind() || !scheduler_->has_order_room(frame.source))) room_.wait(lock);
  if (!takes()) return Offered::ended;
  const auto now_ns = now();
  Frame ticket;
  ticket.source = frame.source;
  ticket.sequence = next_sequence_[frame.source]++;
  ticket.pts_ns = frame.pts_ns;
  ticket.intended_ns = frame.due_ns.value_or(now_ns);
  ticket.payload = store_.add(nullptr);
  if (auto gap = scheduler_->offer_gap(ticket, DropReason::damaged, now_ns); !gap) {
    fail(gap.error());
    return Offered::ended;
  }
  if (options_.on_taken) options_.on_taken(frame.source, next_sequence_[frame.source]);
  pump();
  return Offered::taken;
}

void Pipeline::close(std::uint32_t source) {
  const std::lock_guard lock(mutex_);
  scheduler_->close(source);
  room_.notify_all();
}

base::Result<void> Pipeline::finish() {
  std::unique_lock lock(mutex_);
  count_idle(now());
  if (!error_) {
    scheduler_->drain();
    pump();
  }
  room_.wait(lock, [&] {
    return sink_failed_ || ((error_ || scheduler_->in_flight() == 0) && unwritten_.empty() && writing_ == 0);
  });
  end();
  if (!error_ && !finished_) {
    finished_ = true;
    lock.unlock();
    auto done = sink_.finish();
    lock.lock();
    if (!done) fail(done.error());
  }
  if (error_) return tl::unexpected(*error_);
  return {};
}

void Pipeline::stop() {
  const std::lock_guard lock(mutex_);
  if (!scheduler_) return;
  end();
  if (auto stopped = scheduler_->stop(now()); !stopped) fail(stopped.error());
  free_dropped_images();
  pump();
}

void Pipeline::end() {
  ended_.store(true, std::memory_order_relaxed);
  room_.notify_all();
}

void Pipeline::fail(base::Error error) {
  if (!error_) error_ = std::move(error);
  end();
}

void Pipeline::count_idle(std::int64_t now_ns) {
  const auto idle = static_cast<std::int64_t>(workers_.size()) - scheduler_->dispatcher().busy_workers();
  const auto past = idle * (now_ns - idle_since_ns_);
  if (scheduler_->dispatcher().queued() > 0)
    time_.waiting_ns += past;
  else if (held_back_ > 0)
    time_.sink_ns += past;
  else
    time_.no_frame_ns += past;
  idle_since_ns_ = now_ns;
}

std::optional<std::uint32_t> Pipeline::pump(bool may_run) {
  std::optional<std::uint32_t> own;
  if (error_) return own;
  const auto now_ns = now();
  count_idle(now_ns);
  const auto wake = scheduler_->poll(now_ns);
  if (!wake) {
    fail(wake.error());
    return own;
  }
  free_dropped_images();
  for (const auto& launch : scheduler_->launches()) {
    auto& worker = *workers_[launch.worker];
    worker.executed_size = launch.executed_size;
    worker.tickets.assign(launch.frames.begin(), launch.frames.end());
    for (const auto& frame : launch.frames) store_.hold(frame.payload);
    if (may_run && !own && scheduler_->dispatcher().model().warm_ns(launch.executed_size) < options_.hand_over_ns) {
      own = launch.worker;
      continue;
    }
    worker.has_work = true;
    worker.wake.notify_one();
  }
  if (*wake != wake_ns_) {
    wake_ns_ = *wake;
    timer_wake_.notify_one();
  }
  scheduler_->take_results(left_);
  if (!left_.empty()) {
    unwritten_.insert(unwritten_.end(), left_.begin(), left_.end());
    writer_wake_.notify_one();
  }
  room_.notify_all();
  return own;
}

void Pipeline::work(std::uint32_t number) {
  auto& own = *workers_[number];
  std::unique_lock lock(mutex_);
  for (;;) {
    own.wake.wait(lock, [&] { return own.has_work || quit_; });
    if (!own.has_work) return;
    own.has_work = false;
    run(number, lock);
  }
}

void Pipeline::run(std::uint32_t number, std::unique_lock<std::mutex>& lock) {
  auto& own = *workers_[number];
  own.slots.clear();
  own.frames.clear();
  for (const auto& ticket : own.tickets) {
    own.slots.push_back(&store_.at(ticket.payload));
    own.frames.push_back(
        {.image = own.slots.back()->image.get(), .source = ticket.source, .sequence = ticket.sequence});
  }
  own.results.resize(own.slots.size());
  lock.unlock();
  const auto ran = runner_.run(number, own.frames, own.executed_size, own.results);
  lock.lock();
  const auto now_ns = now();
  count_idle(now_ns);
  for (std::size_t i = 0; i < own.slots.size(); ++i) {
    if (ran) own.slots[i]->result.swap(own.results[i]);
    if (!ran) own.slots[i]->error = ran.error().message;
    const auto payload = own.tickets[i].payload;
    store_.release(payload);
    if (!may_keep_images()) store_.drop_image(payload);
  }
  if (ran) {
    time_.busy.preprocess_ns += ran->preprocess_ns;
    time_.busy.inference_ns += ran->inference_ns;
    time_.busy.copy_ns += ran->copy_ns;
    time_.busy.postprocess_ns += ran->postprocess_ns;
    time_.busy.crops_ns += ran->crops_ns;
    time_.busy.wait_ns += ran->wait_ns;
    failures_in_a_row_ = 0;
  } else {
    ++failures_;
    ++failures_in_a_row_;
    last_failure_ = ran.error();
    if (ran.error().code == base::ErrorCode::io) fail(ran.error());
  }
  if (auto done = scheduler_->complete(number, now_ns, ran ? std::nullopt : std::optional(DropReason::failed)); !done)
    fail(done.error());
  pump();
  if (failures_in_a_row_ >= options_.most_failures)
    fail({ran.error().code, fmt::format("{} inferences failed one after another, the last with: {}", failures_in_a_row_,
                                        last_failure_->message)});
}

void Pipeline::leave_session(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  scheduler_->leave_session(number);
  pump();
}

void Pipeline::keep_time() {
  std::unique_lock lock(mutex_);
  while (!quit_) {
    if (!wake_ns_) {
      timer_wake_.wait(lock);
      continue;
    }
    const auto left_ns = *wake_ns_ - now();
    if (left_ns > 0) {
      timer_wake_.wait_for(lock, std::chrono::nanoseconds(left_ns));
      continue;
    }
    wake_ns_.reset();
    pump();
    if (error_) timer_wake_.wait(lock, [&] { return quit_; });
  }
}

void Pipeline::write() {
  const std::string none;
  std::vector<FrameResult> results;
  std::vector<FrameStore::Slot*> slots;
  std::vector<std::shared_ptr<const Image>> images;
  std::unique_lock lock(mutex_);
  for (;;) {
    writer_wake_.wait(lock, [&] { return !unwritten_.empty() || workers_ended_; });
    if (unwritten_.empty()) return;
    results.clear();
    results.swap(unwritten_);
    slots.clear();
    images.clear();
    for (const auto& result : results) {
      slots.push_back(&store_.at(result.frame.payload));
      images.push_back(slots.back()->image);
    }
    writing_ = results.size();
    const bool broken = sink_failed_;
    lock.unlock();
    std::optional<base::Error> error;
    for (std::size_t i = 0; i < results.size() && !broken && !error; ++i) {
      // A worker may still write to the slot of a frame that was given up.
      const auto& dropped = results[i].dropped;
      const FrameOutput output{results[i], dropped ? none : slots[i]->result,
                               wants_images_ ? std::move(images[i]) : nullptr,
                               dropped == DropReason::failed ? slots[i]->error : none};
      if (auto written = sink_.write(output); !written) error = written.error();
    }
    lock.lock();
    for (const auto& result : results) store_.release(result.frame.payload);
    writing_ = 0;
    if (!error && !broken) written_ += results.size();
    if (error) {
      sink_failed_ = true;
      fail(*error);
    }
    room_.notify_all();
  }
}

PipelineStatus Pipeline::status() {
  const std::lock_guard lock(mutex_);
  count_idle(now());
  PipelineStatus out;
  out.meter = scheduler_->meter();
  out.workers = time_;
  out.in_flight = scheduler_->in_flight();
  out.queued = scheduler_->dispatcher().queued();
  out.capacity = scheduler_->dispatcher().capacity();
  out.unwritten = unwritten_.size() + writing_;
  out.written = written_;
  out.failures = failures_;
  out.last_failure = last_failure_;
  return out;
}

}  // namespace ridgeline::stream
