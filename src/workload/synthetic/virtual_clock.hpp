// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace ridgeline::workload {

/// A clock that moves only when told to. Shared by all synthetic workloads of a process, so that both arms of a
/// comparison live in one time, and where it was made with share() by every process that attaches to it, so that a
/// whole run does. Thread-safe.
class VirtualClock final : public base::Clock {
 public:
  /// now() of a new clock; the disturbances of the synthetic workload count from there.
  static constexpr base::Nanoseconds kBegin{1'000'000'000};
  /// Environment variable by which a worker finds the clock of its parent.
  static constexpr const char* kVariable = "RIDGELINE_VIRTUAL_CLOCK";

  /// Of this process alone.
  VirtualClock();
  /// In memory that other processes can attach to while this one lives. Errors: io.
  [[nodiscard]] static base::Result<std::shared_ptr<const VirtualClock>> share();
  /// The clock at path() of another process. Errors: io.
  [[nodiscard]] static base::Result<std::shared_ptr<const VirtualClock>> attach(const std::string& path);
  ~VirtualClock() override;
  VirtualClock(const VirtualClock&) = delete;
  VirtualClock& operator=(const VirtualClock&) = delete;

  /// What attach() of another process takes; "" for a clock of this process alone.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  [[nodiscard]] base::Nanoseconds now() const noexcept override {
    return base::Nanoseconds(now_ns_->load(std::memory_order_acquire));
  }
  /// Returns at once; time has passed.
  void sleep_for(base::Nanoseconds duration) const override {
    now_ns_->fetch_add(duration.count(), std::memory_order_acq_rel);
  }
  [[nodiscard]] std::string utc_now() const override { return base::system_clock().utc_now(); }

 private:
  using Cell = std::atomic<std::int64_t>;
  static_assert(Cell::is_always_lock_free);
  VirtualClock(Cell* shared, int fd, std::string path) : now_ns_(shared), fd_(fd), path_(std::move(path)) {}

  Cell own_{kBegin.count()};
  Cell* now_ns_;  ///< own_, or mapped
  int fd_ = -1;
  std::string path_;
};

}  // namespace ridgeline::workload
