// SPDX-License-Identifier: Apache-2.0
#include "execute/slot_executor.hpp"

#include <optional>
#include <thread>
#include <utility>

namespace ridgeline::execute {

using base::ErrorCode;
using base::Result;

namespace {

tl::unexpected<base::Error> cancelled_before() { return base::fail(ErrorCode::cancelled, "cancelled before it began"); }

}  // namespace

/// A thread that owns a transport and brings it one job after another.
class SlotExecutor::Caller {
 public:
  Caller(SlotExecutor& owner, MakeTransport make)
      : owner_(owner), thread_([this, make = std::move(make)] { work(make); }) {}
  ~Caller() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void add(Waiting waiting) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(waiting));
    }
    changed_.notify_all();
  }
  [[nodiscard]] std::vector<std::string> capabilities() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return capabilities_.has_value(); });
    return *capabilities_;
  }

 private:
  void work(const MakeTransport& make) {
    const auto transport = make(owner_.cancelled_);
    std::unique_lock lock(mutex_);
    capabilities_ = transport->capabilities();
    changed_.notify_all();
    for (;;) {
      changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
      if (closing_) return;
      const auto next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      auto answer = owner_.cancelling_ ? Result<JobAnswer>(cancelled_before()) : transport->run(next.job);
      {
        const std::lock_guard ours(owner_.mutex_);
        owner_.finished_.push_back({next.id, std::move(answer)});
      }
      owner_.ended_.notify_all();
      lock.lock();
    }
  }

  SlotExecutor& owner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::vector<std::string>> capabilities_;  ///< set once the transport is made
  std::deque<Waiting> waiting_;
  bool closing_ = false;
  std::thread thread_;  ///< last: it uses the rest
};

SlotExecutor::SlotExecutor(std::vector<Slot> slots, std::function<bool()> cancelled,
                           std::shared_ptr<const base::Clock> clock)
    : cancelled_([this, cancelled = std::move(cancelled)] { return cancelling_ || (cancelled && cancelled()); }),
      clock_(std::move(clock)) {
  for (const auto& slot : slots) devices_.push_back(slot.device);
  first_ = slots.front().make(cancelled_);
  for (std::size_t i = 1; i < slots.size(); ++i)
    others_.push_back(std::make_unique<Caller>(*this, std::move(slots[i].make)));
}

SlotExecutor::~SlotExecutor() { cancelling_ = true; }

std::vector<std::string> SlotExecutor::capabilities(std::size_t slot) const {
  if (slot >= devices_.size()) return {};
  return slot == 0 ? first_->capabilities() : others_[slot - 1]->capabilities();
}

Result<schema::Environment> SlotExecutor::environment(std::size_t slot) {
  Job job;
  job.kind = job_kind::kEnvironment;
  job.slot = slot;
  RL_TRY_ASSIGN(const auto id, submit(std::move(job)));
  std::vector<FinishedJob> others;
  std::optional<FinishedJob> found;
  while (!found) {
    auto next = wait_any();
    if (next->id == id)
      found = std::move(next);
    else
      others.push_back(std::move(*next));
  }
  {
    const std::lock_guard lock(mutex_);
    under_way_ += others.size();
    for (auto& other : others) finished_.push_back(std::move(other));
  }
  RL_TRY_ASSIGN(const auto answer, std::move(found->answer));
  return base::json_as<schema::Environment>(answer.value, "environment");
}

Result<JobId> SlotExecutor::submit(Job job) {
  if (job.slot >= devices_.size())
    return base::fail(ErrorCode::invalid_argument, "slot {} of {}: no such slot", job.slot, devices_.size());
  if (under_way_ == 0) cancelling_ = false;
  const auto slot = job.slot;
  Waiting waiting{++last_id_, std::move(job)};
  ++under_way_;
  if (slot == 0)
    for_first_.push_back(std::move(waiting));
  else
    others_[slot - 1]->add(std::move(waiting));
  return last_id_;
}

FinishedJob SlotExecutor::run_here(Waiting waiting) {
  return {waiting.id, cancelling_ ? Result<JobAnswer>(cancelled_before()) : first_->run(waiting.job)};
}

std::optional<FinishedJob> SlotExecutor::wait_any() {
  if (under_way_ == 0) return std::nullopt;
  --under_way_;
  {
    const std::lock_guard lock(mutex_);
    if (!finished_.empty()) {
      auto ended = std::move(finished_.front());
      finished_.pop_front();
      return ended;
    }
  }
  if (!for_first_.empty()) {
    auto next = std::move(for_first_.front());
    for_first_.pop_front();
    return run_here(std::move(next));
  }
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return !finished_.empty(); });
  auto ended = std::move(finished_.front());
  finished_.pop_front();
  return ended;
}

void SlotExecutor::cancel() { cancelling_ = under_way_ > 0; }

}  // namespace ridgeline::execute
