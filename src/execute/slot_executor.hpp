// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "execute/executor.hpp"
#include "execute/transport.hpp"

namespace ridgeline::execute {

/// An executor over one transport a slot. Slot 0 works on the caller's thread, inside wait_any(). Each other slot's
/// transport is made, used and destroyed on a thread of its own, because workers die with the thread that started them.
class SlotExecutor final : public Executor {
 public:
  using MakeTransport = std::function<std::unique_ptr<Transport>(std::function<bool()> cancelled)>;
  struct Slot {
    DeviceSlot device;
    MakeTransport make;
  };

  /// `slots`: at least one. `cancelled`: polled by running jobs, as cancel() is; may be unset. `clock`: of the run;
  /// nullptr: the system's.
  explicit SlotExecutor(std::vector<Slot> slots, std::function<bool()> cancelled = {},
                        std::shared_ptr<const base::Clock> clock = nullptr);
  ~SlotExecutor() override;
  SlotExecutor(const SlotExecutor&) = delete;
  SlotExecutor& operator=(const SlotExecutor&) = delete;

  [[nodiscard]] const std::vector<DeviceSlot>& slots() const override { return devices_; }
  [[nodiscard]] std::vector<std::string> capabilities(std::size_t slot) const override;
  [[nodiscard]] base::Result<schema::Environment> environment(std::size_t slot) override;
  [[nodiscard]] base::Result<JobId> submit(Job job) override;
  [[nodiscard]] std::optional<FinishedJob> wait_any() override;
  void cancel() override;
  [[nodiscard]] const base::Clock& clock() const noexcept override { return clock_ ? *clock_ : base::system_clock(); }

 private:
  class Caller;
  struct Waiting {
    JobId id;
    Job job;
  };
  [[nodiscard]] FinishedJob run_here(Waiting waiting);

  std::vector<DeviceSlot> devices_;
  std::function<bool()> cancelled_;
  std::shared_ptr<const base::Clock> clock_;
  std::atomic<bool> cancelling_{false};
  JobId last_id_ = 0;
  std::size_t under_way_ = 0;  ///< submitted and not yet fetched
  std::deque<Waiting> for_first_;
  std::mutex mutex_;  ///< of finished_
  std::condition_variable ended_;
  std::deque<FinishedJob> finished_;
  std::unique_ptr<Transport> first_;
  std::vector<std::unique_ptr<Caller>> others_;  ///< last: their threads use the rest
};

}  // namespace ridgeline::execute
