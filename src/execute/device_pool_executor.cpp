// SPDX-License-Identifier: Apache-2.0
#include "execute/device_pool_executor.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace ridgeline::execute {

using base::ErrorCode;
using base::Result;

/// A thread that owns an executor and runs one job after another on it.
class DevicePoolExecutor::Lane {
 public:
  explicit Lane(Make make) : thread_([this, make = std::move(make)] { work(make); }) {}
  ~Lane() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// The job must outlive finish().
  void start(const TrialJob& job) {
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
    }
    changed_.notify_all();
  }
  Result<schema::TrialOutcome> finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return outcome_.has_value(); });
    auto outcome = std::move(*outcome_);
    outcome_.reset();
    return outcome;
  }

 private:
  void work(const Make& make) {
    const auto executor = make();
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closing_ || job_ != nullptr; });
      if (job_ == nullptr) return;
      const auto* job = std::exchange(job_, nullptr);
      lock.unlock();
      auto outcome = executor->run_trial(job->spec, job->options);
      lock.lock();
      outcome_.emplace(std::move(outcome));
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const TrialJob* job_ = nullptr;
  std::optional<Result<schema::TrialOutcome>> outcome_;
  bool closing_ = false;
  std::thread thread_;  ///< last: it uses the rest
};

DevicePoolExecutor::DevicePoolExecutor(std::unique_ptr<Executor> first, const std::vector<Make>& others)
    : first_(std::move(first)) {
  for (const auto& make : others) others_.push_back(std::make_unique<Lane>(make));
}

DevicePoolExecutor::~DevicePoolExecutor() = default;

Result<schema::RuntimeIdentity> DevicePoolExecutor::probe(const std::string& kind, const std::string& library) {
  return first_->probe(kind, library);
}

Result<schema::ModelDescription> DevicePoolExecutor::inspect(const workload::InspectRequest& request) {
  return first_->inspect(request);
}

Result<schema::TrialOutcome> DevicePoolExecutor::run_trial(const schema::TrialSpec& spec, const TrialOptions& options) {
  return first_->run_trial(spec, options);
}

Result<schema::PairedOutcome> DevicePoolExecutor::run_pair(const schema::PairedSpec& spec, const TimeLeft& time_left) {
  return first_->run_pair(spec, time_left);
}

Result<schema::AccuracyDrift> DevicePoolExecutor::make_reference(const schema::TrialSpec& spec,
                                                                 const std::filesystem::path& path,
                                                                 const TimeLeft& time_left) {
  return first_->make_reference(spec, path, time_left);
}

Result<schema::GpuCeilings> DevicePoolExecutor::gpu_ceilings(const std::string& kind, const std::string& library) {
  return first_->gpu_ceilings(kind, library);
}

Result<schema::RuntimeGraph> DevicePoolExecutor::runtime_graph(const schema::TrialSpec& spec) {
  return first_->runtime_graph(spec);
}

std::vector<Result<schema::TrialOutcome>> DevicePoolExecutor::run_trials(const std::vector<TrialJob>& jobs) {
  std::vector<bool> busy(lanes(), false);
  for (const auto& job : jobs) {
    if (job.lane >= lanes() || busy[job.lane])
      return {jobs.size(),
              Result<schema::TrialOutcome>(base::fail(
                  ErrorCode::internal, "lane {} of {}: no such lane or two trials for it", job.lane, lanes()))};
    busy[job.lane] = true;
  }
  const TrialJob* own = nullptr;
  for (const auto& job : jobs) {
    if (job.lane == 0)
      own = &job;
    else
      others_[job.lane - 1]->start(job);
  }
  std::optional<Result<schema::TrialOutcome>> first;
  if (own != nullptr) first.emplace(first_->run_trial(own->spec, own->options));
  std::vector<Result<schema::TrialOutcome>> outcomes;
  for (const auto& job : jobs) outcomes.push_back(job.lane == 0 ? std::move(*first) : others_[job.lane - 1]->finish());
  return outcomes;
}

}  // namespace ridgeline::execute
