// SPDX-License-Identifier: Apache-2.0
#include "gpu/telemetry_sampler.hpp"
#include "gpu/messages.hpp"
#include "stats/quantile.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace ridgeline::gpu {
namespace {

constexpr std::int64_t kNotableBytes = 16 << 20;  // a step of memory that a time line should show
constexpr double kLeastGapS = 0.04;               // below one coarse interval

std::optional<std::uint64_t> growth(const std::optional<std::uint64_t>& from, const std::optional<std::uint64_t>& to) {
  if (!from || !to || *to < *from) return std::nullopt;  // a driver that was reloaded starts again at 0
  return *to - *from;
}

void raise(std::optional<std::int64_t>& peak, const std::optional<std::int64_t>& value) {
  if (value) peak = std::max(peak.value_or(*value), *value);
}

bool holds_clocks_down(std::uint64_t reasons) { return !schema::clock_reason_names(reasons).empty(); }

std::set<std::int64_t> pids_of(const std::optional<std::vector<schema::GpuNeighbour>>& list) {
  std::set<std::int64_t> pids;
  if (list)
    for (const auto& process : *list) pids.insert(process.pid);
  return pids;
}

}  // namespace

base::Result<std::unique_ptr<TelemetrySampler>> TelemetrySampler::make(std::shared_ptr<const NvmlApi> api,
                                                                       const std::string& uuid, Options options) {
  RL_TRY_ASSIGN(const auto handle, api->device_by_uuid(uuid));
  if (options.pid == 0) options.pid = ::getpid();
  options.max_samples = std::max<std::size_t>(options.max_samples, 2);
  std::unique_ptr<TelemetrySampler> sampler(new TelemetrySampler(NvmlDevice(std::move(api), handle), uuid, options));
  try {
    sampler->thread_ = std::jthread([self = sampler.get()] { self->serve(); });
  } catch (const std::system_error& error) {
    return base::fail(base::ErrorCode::out_of_memory, "cannot start the thread that samples GPU {}: {}", uuid,
                      error.what());
  }
  return sampler;
}

TelemetrySampler::TelemetrySampler(NvmlDevice device, std::string uuid, Options options)
    : device_(std::move(device)),
      uuid_(std::move(uuid)),
      options_(options),
      strangers_(pids_of(device_.compute_processes())) {
  if (const auto memory = device_.memory()) idle_bytes_ = static_cast<std::int64_t>(memory->used);
}

TelemetrySampler::~TelemetrySampler() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
}

void TelemetrySampler::serve() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    const auto mode = mode_;
    if (mode == Mode::idle) {
      wake_.wait(lock, [&] { return closing_ || mode_ != Mode::idle; });
      continue;
    }
    lock.unlock();
    sample(mode);
    lock.lock();
    wake_.wait_for(lock, mode == Mode::fine ? options_.fine : options_.coarse,
                   [&] { return closing_ || mode_ != mode; });
  }
}

void TelemetrySampler::sample(Mode mode) {
  schema::GpuSample sample;
  const auto processes = device_.compute_processes();
  if (const auto memory = device_.memory()) sample.memory_used_bytes = static_cast<std::int64_t>(memory->used);
  if (mode == Mode::coarse) {
    sample.sm_clock_mhz = device_.clock_mhz(nvml::kSmClock);
    sample.memory_clock_mhz = device_.clock_mhz(nvml::kMemoryClock);
    sample.temperature_c = device_.temperature_c();
    sample.power_w = device_.power_w();
    sample.utilization_percent = device_.utilization_percent();
    sample.clock_reasons = device_.clock_reasons();
  }
  const std::lock_guard lock(mutex_);
  if (mode_ == Mode::idle) return;  // the trial ended meanwhile
  if (processes) {
    const auto own = find_own(*processes);
    for (const auto* process : own)
      if (process->memory_bytes)
        sample.process_memory_bytes = sample.process_memory_bytes.value_or(0) + *process->memory_bytes;
    const auto others = std::max(0, static_cast<int>(processes->size() - own.size()) - companions_);
    part_others_ = std::max(part_others_.value_or(others), others);
  }
  keep(sample, mode);
}

void TelemetrySampler::keep(const schema::GpuSample& sample, Mode mode) {
  raise(record_.device_peak_bytes, sample.memory_used_bytes);
  raise(record_.process_peak_bytes, sample.process_memory_bytes);
  if (mode == Mode::coarse && sample.sm_clock_mhz) part_clocks_.push_back(*sample.sm_clock_mhz);
  if (mode == Mode::coarse && sample.clock_reasons) {
    ++part_looks_;
    if (holds_clocks_down(*sample.clock_reasons)) ++part_held_looks_;
  }
  auto& samples = record_.samples;
  auto kept = sample;
  kept.at_s = now_s();
  if (!samples.empty()) {
    const auto& last = samples.back();
    const bool step =
        std::llabs(sample.memory_used_bytes.value_or(0) - last.memory_used_bytes.value_or(0)) >= kNotableBytes;
    if (kept.at_s - last.at_s < least_gap_s_ && !step) return;
  }
  samples.push_back(std::move(kept));
  if (samples.size() <= options_.max_samples) return;
  std::size_t to = 0;
  for (std::size_t from = 0; from < samples.size(); from += 2) samples[to++] = samples[from];
  samples.resize(to);
  least_gap_s_ *= 2;
}

std::vector<const schema::GpuNeighbour*> TelemetrySampler::find_own(const std::vector<schema::GpuNeighbour>& list) {
  std::vector<const schema::GpuNeighbour*> own;
  if (!options_.workers) {
    if (const auto* self = find_self(list)) own.push_back(self);
    return own;
  }
  const auto workers = options_.workers();
  std::vector<const schema::GpuNeighbour*> late;
  for (const auto& process : list) {
    if (std::find(workers.begin(), workers.end(), process.pid) != workers.end()) own.push_back(&process);
    if (strangers_.count(process.pid) == 0) late.push_back(&process);
  }
  // As in find_self: in a container those that came later are the workers, if there are no more of them.
  return own.empty() && late.size() <= workers.size() ? late : own;
}

const schema::GpuNeighbour* TelemetrySampler::find_self(const std::vector<schema::GpuNeighbour>& list) {
  const auto find = [&](std::int64_t pid) -> const schema::GpuNeighbour* {
    const auto at = std::find_if(list.begin(), list.end(), [&](const auto& process) { return process.pid == pid; });
    return at != list.end() ? &*at : nullptr;
  };
  if (const auto* own = find(options_.pid)) {
    self_ = options_.pid;
    return own;
  }
  if (self_ != 0) return find(self_);
  // In a container the list has the host's numbers. The one entry that came after this process started is its own.
  const schema::GpuNeighbour* only = nullptr;
  for (const auto& process : list) {
    if (strangers_.count(process.pid) > 0) continue;
    if (only != nullptr) return nullptr;
    only = &process;
  }
  if (only != nullptr) self_ = only->pid;
  return only;
}

std::optional<std::vector<schema::GpuNeighbour>> TelemetrySampler::others() {
  auto list = device_.compute_processes();
  if (!list) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto own = find_own(*list);
  for (auto at = own.rbegin(); at != own.rend(); ++at) list->erase(list->begin() + (*at - list->data()));
  drop_companions(*list);
  return list;
}

/// In a container the list has other numbers than the companions have here. Those that came after this process are
/// taken for them first, then the last ones before it: who was there first is somebody else.
void TelemetrySampler::drop_companions(std::vector<schema::GpuNeighbour>& list) const {
  const auto drop = [&](auto may_go, int most) {
    for (auto at = list.end(); at != list.begin() && most > 0;)
      if (may_go(*--at)) {
        at = list.erase(at);
        --most;
      }
    return most;
  };
  const int left = drop([&](const auto& one) { return strangers_.count(one.pid) == 0; }, companions_);
  drop([](const auto&) { return true; }, left);
}

void TelemetrySampler::expect_companions(int count) {
  const std::lock_guard lock(mutex_);
  companions_ = count;
  // They were there when the trial began, which is before anybody asked.
  drop_companions(record_.neighbours_before);
}

void TelemetrySampler::switch_to(Mode mode) {
  {
    const std::lock_guard lock(mutex_);
    mode_ = mode;
  }
  wake_.notify_all();
}

double TelemetrySampler::now_s() const { return base::to_seconds(base::system_clock().now() - begun_); }

void TelemetrySampler::begin_trial() {
  const auto memory = device_.memory();
  auto neighbours = others();
  {
    const std::lock_guard lock(mutex_);
    high_water_before_ = device_.process_high_water_bytes(self_ != 0 ? self_ : options_.pid);
    begun_ = base::system_clock().now();
    record_ = {};
    record_.uuid = uuid_;
    least_gap_s_ = kLeastGapS;
    forget_part();
    if (memory) {
      record_.memory_free_before_bytes = static_cast<std::int64_t>(memory->free);
      record_.device_used_before_bytes = static_cast<std::int64_t>(memory->used);
      record_.device_used_idle_bytes = idle_bytes_;
    }
    if (neighbours) record_.neighbours_before = std::move(*neighbours);
  }
  switch_to(Mode::fine);
}

void TelemetrySampler::begin_timing() {
  window_energy_mj_ = device_.energy_mj();
  window_counters_ = part_counters_ = device_.throttle_counters();
  switch_to(Mode::coarse);
  const std::lock_guard lock(mutex_);
  record_.timed_from_s = now_s();
}

void TelemetrySampler::begin_part() {
  const std::lock_guard lock(mutex_);
  forget_part();
}

void TelemetrySampler::forget_part() {
  part_clocks_.clear();
  part_others_.reset();
  part_looks_ = part_held_looks_ = 0;
}

RoundReading TelemetrySampler::end_part() {
  RoundReading reading;
  const auto clock = device_.clock_mhz(nvml::kSmClock);  // at once, before the GPU turns idle
  const auto reasons = device_.clock_reasons();
  const auto counters = device_.throttle_counters();
  for (std::size_t i = 0; i < counters.size(); ++i)
    if (const auto grown = growth(part_counters_[i], counters[i]))
      reading.throttled_s = std::max(reading.throttled_s.value_or(0), static_cast<double>(*grown) * 1e-9);
  part_counters_ = counters;
  const std::lock_guard lock(mutex_);
  if (!part_clocks_.empty())
    reading.sm_clock_mhz = stats::median(part_clocks_);
  else
    reading.sm_clock_mhz = clock;
  if (part_looks_ > 0)
    reading.held_share = static_cast<double>(part_held_looks_) / static_cast<double>(part_looks_);
  else if (reasons)
    reading.held_share = holds_clocks_down(*reasons) ? 1 : 0;
  reading.others = part_others_;
  return reading;
}

void TelemetrySampler::end_timing(const TimedTotals& totals) {
  const auto counters = device_.throttle_counters();
  double until_s = 0;
  {
    const std::lock_guard lock(mutex_);
    until_s = now_s();
  }
  const auto energy = growth(window_energy_mj_, device_.energy_mj());
  const std::lock_guard lock(mutex_);
  record_.timed_to_s = until_s;
  record_.kept_s = totals.kept_s;
  record_.discarded_s = totals.discarded_s;
  record_.discarded_rounds = totals.discarded_parts;
  for (std::size_t i = 0; i < counters.size(); ++i)
    if (const auto grown = growth(window_counters_[i], counters[i]))
      record_.throttle_ns[kThrottleCauses[i]] = static_cast<double>(*grown);
  if (energy && until_s - record_.timed_from_s >= schema::GpuTelemetry::kLeastEnergyWindowS) {
    record_.energy_j = static_cast<double>(*energy) * 1e-3;
    if (totals.items > 0) record_.energy_mj_per_item = static_cast<double>(*energy) / totals.items;
  }
  std::vector<double> clocks;
  std::uint64_t reasons = 0;
  for (const auto& sample : record_.samples) {
    if (sample.at_s < record_.timed_from_s || sample.at_s > until_s) continue;
    if (sample.sm_clock_mhz) clocks.push_back(*sample.sm_clock_mhz);
    reasons |= sample.clock_reasons.value_or(0);
  }
  record_.clock_reasons = schema::clock_reason_names(reasons);
  if (clocks.empty()) return;
  record_.sm_clock_min_mhz = *std::min_element(clocks.begin(), clocks.end());
  record_.sm_clock_mhz = stats::median(std::move(clocks));
}

std::optional<int> TelemetrySampler::neighbours() {
  const auto list = others();
  return list ? std::optional(static_cast<int>(list->size())) : std::nullopt;
}

schema::GpuTelemetry TelemetrySampler::end_trial() {
  switch_to(Mode::idle);
  const auto memory = device_.memory();
  auto neighbours = others();
  const std::lock_guard lock(mutex_);
  if (memory) record_.memory_free_after_bytes = static_cast<std::int64_t>(memory->free);
  if (neighbours) record_.neighbours_after = std::move(*neighbours);
  // The driver's own mark covers the process's whole life, so it says something about this trial only when it rose.
  const auto mark = self_ != 0 ? device_.process_high_water_bytes(self_) : std::nullopt;
  if (mark && *mark > high_water_before_.value_or(0)) raise(record_.process_peak_bytes, mark);
  if (!record_.process_peak_bytes)
    record_.process_memory_note = self_ == 0 ? messages::worker_not_listed() : messages::worker_memory_unknown();
  else if (self_ != options_.pid)
    record_.process_memory_note = messages::host_numbers();
  return std::exchange(record_, {});
}

}  // namespace ridgeline::gpu
