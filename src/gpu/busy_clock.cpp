// SPDX-License-Identifier: Apache-2.0
#include "gpu/busy_clock.hpp"

#include <utility>

namespace ridgeline::gpu {
namespace {

/// After 2 s a float of milliseconds still resolves 0.2 us.
constexpr double kLongestMs = 2000;
constexpr double kNsPerMs = 1e6;

base::Result<void> reach(const CudaEvent& event, const CudaStream& stream, const CudaDriver& driver) {
  auto status = event.record(stream.handle());
  if (status == kCudaSuccess) status = event.synchronize();
  if (status == kCudaSuccess) return {};
  return tl::unexpected<base::Error>(driver.error(status, "recording an event"));
}

}  // namespace

base::Result<std::unique_ptr<BusyClock>> BusyClock::make(std::shared_ptr<const CudaDriver> driver) {
  RL_TRY_ASSIGN(auto stream, CudaStream::make(driver));
  RL_TRY_ASSIGN(auto base, CudaEvent::make(driver));
  RL_TRY_ASSIGN(auto next, CudaEvent::make(driver));
  RL_TRY(reach(base, stream, *driver));
  return std::unique_ptr<BusyClock>(
      new BusyClock(std::move(driver), std::move(stream), std::move(base), std::move(next)));
}

base::Result<void> BusyClock::move_base() {
  RL_TRY(reach(next_, stream_, *driver_));
  RL_TRY_ASSIGN(const auto ms, next_.elapsed_ms(base_));
  base_ms_ += ms;
  std::swap(base_, next_);
  return {};
}

base::Result<std::int64_t> BusyClock::add(const CudaEvent& start, const CudaEvent& end) {
  RL_TRY_ASSIGN(const auto took_ms, end.elapsed_ms(start));
  const std::lock_guard lock(mutex_);
  RL_TRY_ASSIGN(auto since_ms, end.elapsed_ms(base_));
  if (since_ms > kLongestMs) {
    const double end_ms = base_ms_ + since_ms;
    RL_TRY(move_base());
    since_ms = end_ms - base_ms_;
  }
  const auto end_ns = static_cast<std::int64_t>((base_ms_ + since_ms) * kNsPerMs);
  const auto took_ns = static_cast<std::int64_t>(took_ms * kNsPerMs);
  busy_.add(end_ns - took_ns, end_ns);
  return took_ns;
}

}  // namespace ridgeline::gpu
