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

SimulatedDevice::SimulatedDevice(const DeviceModel& model, const SimulatedSessions& sessions,
                                 std::vector<Freeze> freezes, std::uint64_t seed)
    : model_(model), sessions_(sessions), workers_(sessions.workers), freezes_(std::move(freezes)), random_(seed) {}

double SimulatedDevice::draw(std::uint32_t executed_size) {
  const double time = model_.alpha_ns + model_.beta_ns * executed_size;
  const double factor = model_.jitter > 0 ? std::exp(model_.jitter * random_.normal()) : 1;
  return std::max(1.0, std::round(time * factor));
}

std::uint32_t SimulatedDevice::session_of(std::uint32_t worker) const noexcept {
  return sessions_.sessions == 0 ? worker : worker % sessions_.sessions;
}

std::vector<WarmUpTimes> SimulatedDevice::warm_up(std::uint32_t max_batch) {
  const bool is_plain = sessions_.sessions == 0 && model_.copy_ns <= 0 && model_.decode_ns <= 0;
  const auto at_once =
      std::min(sessions_.workers, is_plain ? 1U : std::max(1U, sessions_.sessions) * sessions_.session_batches);
  std::vector<WarmUpTimes> all;
  std::vector<std::uint32_t> completed;
  std::vector<std::uint32_t> left;
  for (std::uint32_t size = 1;; size = std::min(2 * size, max_batch)) {
    auto& times = all.emplace_back();
    times.batch = size;
    for (int i = 0; i < kWarmUpRuns; ++i) {
      if (is_plain) {
        times.times_ns.push_back(static_cast<std::int64_t>(draw(size)));
        continue;
      }
      SimulatedDevice device(model_, sessions_, {}, static_cast<std::uint64_t>(random_.next()));
      for (std::uint32_t worker = 0; worker < at_once; ++worker) device.start(worker, size);
      while (const auto next = device.next_event()) {
        completed.clear();
        device.advance(*next, completed, left);
        times.times_ns.insert(times.times_ns.end(), completed.size(), *next);
      }
    }
    if (size == max_batch) return all;
  }
}

void SimulatedDevice::start(std::uint32_t worker, std::uint32_t executed_size) {
  auto& entry = workers_[worker];
  entry.part = Part::none;
  entry.order = launches_++;
  entry.size = executed_size;
  entry.compute_ns = draw(executed_size);
  begin_next(entry);
}

bool SimulatedDevice::begin_next(Worker& worker) const noexcept {
  const auto frames = static_cast<double>(worker.size);
  if (worker.part == Part::none) {
    worker.part = Part::copy;
    worker.remaining_ns = model_.copy_ns * frames;
    if (worker.remaining_ns >= kDone) return true;
  }
  if (worker.part == Part::copy) {
    worker.part = Part::compute;
    worker.remaining_ns = worker.compute_ns;
    return true;
  }
  if (worker.part == Part::compute) {
    worker.part = Part::decode;
    worker.remaining_ns = model_.decode_ns * frames;
    if (worker.remaining_ns >= kDone) return true;
  }
  worker.part = Part::none;
  return false;
}

bool SimulatedDevice::progresses(std::uint32_t number) const noexcept {
  const auto& worker = workers_[number];
  if (worker.part == Part::none || worker.frozen) return false;
  if (worker.part == Part::decode) return true;
  for (std::uint32_t other = 0; other < workers_.size(); ++other)
    if (workers_[other].part == worker.part && workers_[other].order < worker.order &&
        (worker.part == Part::copy || session_of(other) == session_of(number)))
      return false;
  return true;
}

double SimulatedDevice::slowdown() const noexcept {
  if (!model_.shared) return 1;
  std::size_t running = 0;
  for (std::uint32_t number = 0; number < workers_.size(); ++number)
    running += workers_[number].part == Part::compute && progresses(number) ? 1 : 0;
  if (running <= 1) return 1;
  const auto& gain = model_.concurrency;
  const double together = gain.empty() ? 1 : gain[std::min(running, gain.size()) - 1];
  return static_cast<double>(running) / together;
}

std::optional<std::int64_t> SimulatedDevice::next_event() const {
  std::optional<std::int64_t> next;
  const auto candidate = [&](std::int64_t at) { next = std::min(next.value_or(at), at); };
  const double slower = slowdown();
  bool any_busy = false;
  for (std::uint32_t number = 0; number < workers_.size(); ++number) {
    const auto& worker = workers_[number];
    any_busy |= worker.part != Part::none;
    if (!progresses(number)) continue;
    const double rate = worker.part == Part::compute ? slower : 1;
    candidate(now_ns_ + static_cast<std::int64_t>(std::ceil(worker.remaining_ns * rate)));
  }
  if (!any_busy) return next;
  for (const auto& freeze : freezes_) {
    if (freeze.at_ns > now_ns_) candidate(freeze.at_ns);
    if (freeze.at_ns + freeze.for_ns > now_ns_) candidate(freeze.at_ns + freeze.for_ns);
  }
  return next;
}

void SimulatedDevice::advance(std::int64_t now_ns, std::vector<std::uint32_t>& completed,
                              std::vector<std::uint32_t>& left) {
  const double passed = static_cast<double>(now_ns - now_ns_);
  const double slower = slowdown();
  std::vector<std::uint32_t> progressing;
  for (std::uint32_t number = 0; number < workers_.size(); ++number)
    if (progresses(number)) progressing.push_back(number);
  now_ns_ = now_ns;
  for (const auto number : progressing) {
    auto& worker = workers_[number];
    const bool is_computed = worker.part == Part::compute;
    worker.remaining_ns -= is_computed ? passed / slower : passed;
    if (worker.remaining_ns >= kDone) continue;
    const bool goes_on = begin_next(worker);
    if (is_computed) left.push_back(number);
    if (!goes_on) completed.push_back(number);
  }
  for (std::uint32_t number = 0; number < workers_.size(); ++number)
    workers_[number].frozen = std::any_of(freezes_.begin(), freezes_.end(), [&](const Freeze& freeze) {
      return freeze.worker == number && freeze.at_ns <= now_ns && now_ns < freeze.at_ns + freeze.for_ns;
    });
}

}  // namespace ridgeline::stream
