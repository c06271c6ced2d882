// SPDX-License-Identifier: Apache-2.0
#include "stream/simulated_device.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ridgeline::stream {
namespace {

constexpr int kWarmUpRuns = 8;
constexpr double kDone = 0.5;  // ns; what sharing leaves of a batch by rounding

}  // namespace

SimulatedDevice::SimulatedDevice(const DeviceModel& model, std::uint32_t workers, std::vector<Freeze> freezes,
                                 std::uint64_t seed)
    : model_(model), workers_(workers), freezes_(std::move(freezes)), random_(seed) {}

double SimulatedDevice::draw(std::uint32_t executed_size) {
  const double time = model_.alpha_ns + model_.beta_ns * executed_size;
  const double factor = model_.jitter > 0 ? std::exp(model_.jitter * random_.normal()) : 1;
  return std::max(1.0, std::round(time * factor));
}

std::vector<WarmUpTimes> SimulatedDevice::warm_up(std::uint32_t max_batch) {
  std::vector<WarmUpTimes> all;
  for (std::uint32_t size = 1;; size = std::min(2 * size, max_batch)) {
    auto& times = all.emplace_back();
    times.batch = size;
    for (int i = 0; i < kWarmUpRuns; ++i) times.times_ns.push_back(static_cast<std::int64_t>(draw(size)));
    if (size == max_batch) return all;
  }
}

void SimulatedDevice::start(std::uint32_t worker, std::uint32_t executed_size) {
  workers_[worker].busy = true;
  workers_[worker].remaining_ns = draw(executed_size);
}

double SimulatedDevice::slowdown() const noexcept {
  if (!model_.shared) return 1;
  int running = 0;
  for (const auto& worker : workers_) running += worker.busy && !worker.frozen ? 1 : 0;
  return std::max(running, 1);
}

std::optional<std::int64_t> SimulatedDevice::next_event() const {
  std::optional<std::int64_t> next;
  const auto candidate = [&](std::int64_t at) { next = std::min(next.value_or(at), at); };
  const double slower = slowdown();
  bool any_busy = false;
  for (const auto& worker : workers_) {
    any_busy |= worker.busy;
    if (worker.busy && !worker.frozen)
      candidate(now_ns_ + static_cast<std::int64_t>(std::ceil(worker.remaining_ns * slower)));
  }
  if (!any_busy) return next;
  for (const auto& freeze : freezes_) {
    if (freeze.at_ns > now_ns_) candidate(freeze.at_ns);
    if (freeze.at_ns + freeze.for_ns > now_ns_) candidate(freeze.at_ns + freeze.for_ns);
  }
  return next;
}

void SimulatedDevice::advance(std::int64_t now_ns, std::vector<std::uint32_t>& completed) {
  const double progress = static_cast<double>(now_ns - now_ns_) / slowdown();
  now_ns_ = now_ns;
  for (std::uint32_t number = 0; number < workers_.size(); ++number) {
    auto& worker = workers_[number];
    if (worker.busy && !worker.frozen) {
      worker.remaining_ns -= progress;
      if (worker.remaining_ns < kDone) {
        worker.busy = false;
        completed.push_back(number);
      }
    }
    worker.frozen = std::any_of(freezes_.begin(), freezes_.end(), [&](const Freeze& freeze) {
      return freeze.worker == number && freeze.at_ns <= now_ns && now_ns < freeze.at_ns + freeze.for_ns;
    });
  }
}

}  // namespace ridgeline::stream
