// SPDX-License-Identifier: Apache-2.0
#include "stream/dispatcher.hpp"

#include <algorithm>
#include <utility>

#include "stream/slo_sizing.hpp"

namespace ridgeline::stream {
namespace {

// How a late frame changes the caution, and the share of late frames that keeps it where it is: a fifth of what a 99th
// percentile leaves, as a batch that is late as a whole raises it less than in proportion.
constexpr double kLateRaises = 1.0 / 16;
constexpr double kLateShare = 0.002;
constexpr double kMostCaution = 2;  // where batches slow each other down, what is rarely exceeded is not enough

void wake_at(std::optional<std::int64_t>& wake_ns, std::int64_t at) { wake_ns = std::min(wake_ns.value_or(at), at); }

}  // namespace

base::Result<Dispatcher> Dispatcher::make(const DispatcherOptions& options, ServiceModel model) {
  if (options.workers == 0) return base::fail(base::ErrorCode::invalid_argument, "0 workers: expected at least 1");
  if (options.sessions > options.workers || options.session_batches == 0)
    return base::fail(base::ErrorCode::invalid_argument, "{} sessions of {} batches for {} workers", options.sessions,
                      options.session_batches, options.workers);
  if (options.capacity == 0) return base::fail(base::ErrorCode::invalid_argument, "a queue of 0 frames");
  if (options.max_batch == 0 || options.max_batch > model.largest())
    return base::fail(base::ErrorCode::invalid_argument, "a batch of {} is outside 1..{}, the largest warmed size",
                      options.max_batch, model.largest());
  if (options.frame_timeout_ns < 0 || options.guard_ns < 0 || options.give_up_after_ns.value_or(0) < 0)
    return base::fail(base::ErrorCode::invalid_argument, "a duration below 0");
  if (options.capacity_slo_ns > 0) RL_TRY(check_slo(model, options.capacity_slo_ns));
  return Dispatcher(options, std::move(model));
}

Dispatcher::Dispatcher(const DispatcherOptions& options, ServiceModel model)
    : options_(options),
      model_(std::move(model)),
      queue_(options.capacity, options.drop_policy),
      workers_(options.workers),
      sessions_(options.sessions == 0 ? options.workers : options.sessions, 0) {
  for (auto& worker : workers_) {
    worker.frames.reserve(options.max_batch);
    worker.given_up.reserve(options.max_batch);
  }
  follow_slo();
}

void Dispatcher::follow_slo() noexcept {
  if (options_.capacity_slo_ns <= 0) return;
  queue_.set_capacity(slo_capacity(model_, options_.max_batch, options_.batches_at_once(), options_.capacity_slo_ns));
}

std::optional<std::uint32_t> Dispatcher::free_worker() const noexcept {
  if (in_sessions_ >= options_.batches_at_once()) return std::nullopt;
  std::optional<std::uint32_t> best;
  for (std::uint32_t worker = 0; worker < workers_.size(); ++worker) {
    const auto taken = sessions_[session_of(worker)];
    if (workers_[worker].busy || taken >= options_.session_batches) continue;
    if (!best || taken < sessions_[session_of(*best)]) best = worker;
  }
  return best;
}

Admitted Dispatcher::offer(Frame frame, std::int64_t now_ns) {
  frame.entered_ns = now_ns;
  return queue_.push(frame);
}

void Dispatcher::poll(std::int64_t now_ns, Decisions& decisions) {
  decisions.launches.clear();
  decisions.dropped.clear();
  decisions.wake_ns.reset();
  give_up_overdue(now_ns, decisions);
  while (!queue_.empty() && !held_) {
    const auto worker = free_worker();
    if (!worker) break;
    if (const auto at = launch_time(); at > now_ns) {
      wake_at(decisions.wake_ns, at);
      break;
    }
    launch(*worker, now_ns, decisions);
  }
  drop_expired(now_ns, decisions);
}

std::int64_t Dispatcher::launch_time() const noexcept {
  const auto at_once = queue_.oldest().entered_ns;
  if (draining_ || queue_.size() >= options_.max_batch || queue_.size() >= queue_.capacity()) return at_once;
  if (options_.use_slack)
    if (const auto deadline = queue_.earliest_deadline())
      return *deadline - model_.high_ns(static_cast<std::uint32_t>(queue_.size()) + 1) - options_.guard_ns;
  return at_once + options_.frame_timeout_ns;
}

std::int64_t Dispatcher::planned_ns(std::size_t n) const noexcept {
  const auto size = static_cast<std::uint32_t>(n);
  const auto expected = model_.expected_ns(size);
  return expected + static_cast<std::int64_t>(caution_ * static_cast<double>(model_.high_ns(size) - expected));
}

void Dispatcher::learn_caution(const Worker& worker, std::int64_t now_ns) noexcept {
  const auto is_late = [&](const Frame& frame) {
    return frame.deadline_ns != 0 && now_ns + options_.guard_ns > frame.deadline_ns;
  };
  const auto late = static_cast<double>(std::count_if(worker.frames.begin(), worker.frames.end(), is_late));
  const double in_time = static_cast<double>(worker.frames.size()) - late;
  caution_ = std::clamp(caution_ + kLateRaises * (late - kLateShare * in_time), 0.0, kMostCaution);
}

std::optional<std::size_t> Dispatcher::batch_within(std::int64_t time_ns, std::size_t least,
                                                    std::size_t below) const noexcept {
  for (std::size_t size = below; size-- > least;)
    if (planned_ns(size) <= time_ns) return size;
  return std::nullopt;
}

void Dispatcher::fill(std::int64_t now_ns, std::vector<Frame>& frames, std::vector<DroppedFrame>& dropped) {
  std::optional<Frame> hopeful;  // the last to be dropped that would be in time if batches took what the warm-up took
  std::size_t batch = 0;         // the largest that is still possible
  std::int64_t takes_ns = 0;     // and how long it takes
  std::size_t most = model_.efficient_size(
      static_cast<std::uint32_t>(std::min<std::size_t>(options_.max_batch, std::max<std::size_t>(1, queue_.size()))));
  // Where more waits than a batch holds, the work of a small one is missing later.
  const bool may_be_smaller = queue_.size() <= most;
  while (!queue_.empty() && frames.size() < most) {
    const auto& next = queue_.next();
    if (options_.drop_early && next.deadline_ns != 0) {
      const auto possible = std::min(most, frames.size() + queue_.size());
      if (possible != batch) {
        batch = possible;
        takes_ns = planned_ns(batch);
      }
      const auto left = next.deadline_ns - options_.guard_ns - now_ns;
      if (takes_ns > left && may_be_smaller) {
        if (const auto smaller = batch_within(left, std::max(frames.size() + 1, (batch + 1) / 2), batch)) {
          most = batch = *smaller;
          takes_ns = planned_ns(batch);
        }
      }
      if (takes_ns > left) {
        if (hopeful) dropped.push_back({*std::exchange(hopeful, {}), DropReason::deadline});
        const bool hope = model_.warm_ns(1) <= left;
        const auto frame = queue_.discard();
        if (hope)
          hopeful = frame;
        else
          dropped.push_back({frame, DropReason::deadline});
        continue;
      }
    }
    frames.push_back(queue_.take());
  }
  if (!hopeful) return;
  // A model that was taught by a disturbance must not keep every worker idle for good: one frame finds out.
  if (frames.empty())
    frames.push_back(*hopeful);
  else
    dropped.push_back({*hopeful, DropReason::deadline});
}

void Dispatcher::launch(std::uint32_t worker, std::int64_t now_ns, Decisions& decisions) {
  auto& entry = workers_[worker];
  entry.frames.clear();
  fill(now_ns, entry.frames, decisions.dropped);
  if (entry.frames.empty()) return;
  entry.busy = true;
  entry.in_session = true;
  ++sessions_[session_of(worker)];
  ++in_sessions_;
  entry.launched_ns = now_ns;
  entry.given_up.assign(entry.frames.size(), 0);
  plan_give_up(entry);
  ++busy_;
  const auto size = static_cast<std::uint32_t>(entry.frames.size());
  decisions.launches.push_back({worker, model_.executed_size(size), entry.frames});
  if (entry.give_up_ns) wake_at(decisions.wake_ns, *entry.give_up_ns);
}

void Dispatcher::plan_give_up(Worker& worker) const {
  worker.give_up_ns.reset();
  if (!options_.give_up_after_ns) return;
  for (std::size_t i = 0; i < worker.frames.size(); ++i)
    if (worker.given_up[i] == 0 && worker.frames[i].deadline_ns != 0)
      wake_at(worker.give_up_ns, worker.frames[i].deadline_ns + *options_.give_up_after_ns);
}

void Dispatcher::give_up_overdue(std::int64_t now_ns, Decisions& decisions) {
  if (!options_.give_up_after_ns) return;
  for (auto& worker : workers_) {
    if (!worker.busy || !worker.give_up_ns) continue;
    if (*worker.give_up_ns <= now_ns) {
      for (std::size_t i = 0; i < worker.frames.size(); ++i) {
        const auto& frame = worker.frames[i];
        if (worker.given_up[i] != 0 || frame.deadline_ns == 0) continue;
        if (frame.deadline_ns + *options_.give_up_after_ns > now_ns) continue;
        worker.given_up[i] = 1;
        decisions.dropped.push_back({frame, DropReason::timeout});
      }
      plan_give_up(worker);
    }
    if (worker.give_up_ns) wake_at(decisions.wake_ns, *worker.give_up_ns);
  }
}

// Where nothing can be launched, nothing is dropped at launch: what has expired leaves here.
void Dispatcher::drop_expired(std::int64_t now_ns, Decisions& decisions) {
  if (!options_.drop_early || (free_worker() && !held_)) return;
  while (!queue_.empty()) {
    const auto deadline = queue_.oldest().deadline_ns;
    if (deadline == 0) return;
    if (deadline >= now_ns) return wake_at(decisions.wake_ns, deadline + 1);
    decisions.dropped.push_back({queue_.discard_oldest(), DropReason::deadline});
  }
}

void Dispatcher::leave_session(std::uint32_t worker) noexcept {
  if (worker >= workers_.size() || !std::exchange(workers_[worker].in_session, false)) return;
  --sessions_[session_of(worker)];
  --in_sessions_;
}

base::Result<Completion> Dispatcher::complete(std::uint32_t worker, std::int64_t now_ns, bool succeeded) {
  if (worker >= workers_.size() || !workers_[worker].busy)
    return base::fail(base::ErrorCode::internal, "worker {} completed a batch that it was not given", worker);
  auto& entry = workers_[worker];
  leave_session(worker);
  entry.busy = false;
  --busy_;
  if (succeeded) {
    model_.observe(static_cast<std::uint32_t>(entry.frames.size()), now_ns - entry.launched_ns);
    follow_slo();
    learn_caution(entry, now_ns);
  }
  return Completion{entry.frames, entry.given_up, entry.launched_ns};
}

void Dispatcher::stop(std::vector<DroppedFrame>& dropped) {
  while (!queue_.empty()) dropped.push_back({queue_.discard_oldest(), DropReason::stopped});
}

}  // namespace ridgeline::stream
