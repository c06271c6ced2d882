// SPDX-License-Identifier: Apache-2.0
#include "gpu/busy_clock.hpp"

#include <algorithm>
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

base::Result<BusyClock::Interval> BusyClock::interval(const CudaEvent& start, const CudaEvent& end) {
  RL_TRY_ASSIGN(const auto took_ms, end.elapsed_ms(start));
  const std::lock_guard lock(mutex_);
  RL_TRY_ASSIGN(auto since_ms, end.elapsed_ms(base_));
  if (since_ms > kLongestMs) {
    const double end_ms = base_ms_ + since_ms;
    RL_TRY(move_base());
    since_ms = end_ms - base_ms_;
  }
  const auto end_ns = static_cast<std::int64_t>((base_ms_ + since_ms) * kNsPerMs);
  return Interval{end_ns - static_cast<std::int64_t>(took_ms * kNsPerMs), end_ns};
}

base::Result<std::int64_t> BusyClock::add(const CudaEvent& start, const CudaEvent& end, std::uint32_t size) {
  RL_TRY_ASSIGN(const auto took, interval(start, end));
  busy_.add(took.start_ns, took.end_ns);
  both_.add(took.start_ns, took.end_ns);
  const auto ns = took.end_ns - took.start_ns;
  const std::lock_guard lock(mutex_);
  inferences_[size].add(ns);
  return ns;
}

base::Result<std::int64_t> BusyClock::add_upload(const CudaEvent& start, const CudaEvent& end) {
  RL_TRY_ASSIGN(const auto took, interval(start, end));
  uploads_.add(took.start_ns, took.end_ns);
  both_.add(took.start_ns, took.end_ns);
  return took.end_ns - took.start_ns;
}

DeviceTimes BusyClock::covered() const {
  DeviceTimes out;
  // In this order, so that what is added meanwhile makes hidden_ns smaller and not larger.
  out.busy_ns = busy_.covered_ns();
  out.upload_ns = uploads_.covered_ns();
  out.hidden_ns = std::max<std::int64_t>(0, out.busy_ns + out.upload_ns - both_.covered_ns());
  return out;
}

void BusyClock::start_over() {
  const auto now = covered();
  const std::lock_guard lock(mutex_);
  before_ = now;
  inferences_.clear();
}

DeviceTimes BusyClock::times() const {
  auto out = covered();
  const std::lock_guard lock(mutex_);
  out.busy_ns -= before_.busy_ns;
  out.upload_ns -= before_.upload_ns;
  out.hidden_ns = std::max<std::int64_t>(0, out.hidden_ns - before_.hidden_ns);
  for (const auto& [size, histogram] : inferences_) {
    out.inferences += static_cast<std::int64_t>(histogram.count());
    out.slow += static_cast<std::int64_t>(histogram.count_above(2 * histogram.quantile(0.5)));
  }
  return out;
}

}  // namespace ridgeline::gpu
