// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Event.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ridgeline::torch_plugin {

/// Of LibTorch's caching allocator on a GPU. What is not known is -1.
struct MemoryNumbers {
  std::int64_t peak_allocated = -1;
  std::int64_t peak_reserved = -1;
  std::int64_t capacity = -1;
  std::int64_t alloc_retries = -1;  ///< since the process began, as the next one
  std::int64_t num_ooms = -1;
};

/// CUDA devices that this LibTorch can train on; 0 in a CPU build.
[[nodiscard]] int cuda_device_count() noexcept;

/// Gives back the memory of GPUs that LibTorch's allocator keeps for later. False where this LibTorch has no way to, or
/// no GPU.
[[nodiscard]] bool release_device_memory();

/// "cpu" or "cuda:N", with LibTorch's own interfaces that need no header of CUDA: a user's torch comes without them.
class TrainingDevice {
 public:
  /// Refuses (RL_TRAIN_UNAVAILABLE) what is not there and makes a GPU the current device of this thread.
  explicit TrainingDevice(const std::string& name);

  [[nodiscard]] bool cuda() const noexcept { return device_.is_cuda(); }
  [[nodiscard]] c10::Device at() const noexcept { return device_; }
  /// Waits for all that was given to the device.
  void synchronize() const;
  [[nodiscard]] c10::Stream stream() const;
  /// Waits for an event of this device.
  void wait(const c10::Event& event) const;
  [[nodiscard]] MemoryNumbers memory() const;
  void reset_peaks() const;

 private:
  c10::Device device_;
};

/// Moments of a window of steps: events on the device's stream, read when the window is over, so that nothing waits for
/// the device meanwhile; on a CPU readings of the clock. The events are kept for the next window: making one is a call
/// of the driver.
class Marks {
 public:
  explicit Marks(const TrainingDevice& device) : device_(device) {}
  void begin(std::size_t count);
  void mark();
  /// ms; both were marked, and the device has been waited for.
  [[nodiscard]] double between(std::size_t first, std::size_t second) const;

 private:
  const TrainingDevice& device_;
  std::size_t used_ = 0;
  std::vector<c10::Event> events_;
  std::vector<std::chrono::steady_clock::time_point> times_;
};

}  // namespace ridgeline::torch_plugin
