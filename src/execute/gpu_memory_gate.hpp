// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "schema/measurement.hpp"

namespace ridgeline::execute {

/// Lets a trial start on a GPU only when the memory of a worker that ended badly has been given back: the driver frees
/// it some time after the process is gone, and the next trial would be called out of memory for it.
class GpuMemoryGate {
 public:
  /// Free bytes of the GPU with that UUID; nullopt: cannot be read, then nothing is waited for.
  using Reader = std::function<std::optional<std::int64_t>(const std::string& uuid)>;
  static constexpr std::int64_t kToleranceBytes = 32 << 20;
  static constexpr double kPatienceS = 5;

  explicit GpuMemoryGate(Reader reader, const base::Clock& clock = base::system_clock())
      : reader_(std::move(reader)), clock_(clock) {}

  /// Before a trial on `device` ("gpu:<uuid>"; others pass). Waits at most kPatienceS, and only when a trial before it
  /// on that GPU ended badly. "gpu_memory_not_released" (notice) when the memory is still missing then.
  /// `worker_there`: a worker of ours lives that has been on a GPU. Its context (half a GB) is missing from what is
  /// free and would hide as much that is lost, so nothing is read: who ended badly is looked after once it is gone.
  [[nodiscard]] std::optional<schema::QualityFlag> enter(const std::string& device, bool worker_there);
  /// Before what has no flags to tell it by: what is free is read as by enter(), unless a trial has ended badly.
  void look(const std::string& device, bool worker_there);
  /// After it.
  void leave(bool ended_badly) noexcept { owed_ = owed_ || ended_badly; }

 private:
  Reader reader_;
  const base::Clock& clock_;
  std::string uuid_;
  std::optional<std::int64_t> free_before_;  ///< without any worker of ours
  bool owed_ = false;                        ///< a trial ended badly, and nothing was compared since
};

/// Reads through the management library, which is loaded on the first call.
[[nodiscard]] GpuMemoryGate::Reader nvml_free_memory();

}  // namespace ridgeline::execute
