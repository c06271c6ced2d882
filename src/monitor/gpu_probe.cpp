// SPDX-License-Identifier: Apache-2.0
#include "monitor/gpu_probe.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "schema/gpu_telemetry.hpp"

namespace ridgeline::monitor {
namespace {

constexpr auto kShareValidFor = std::chrono::seconds(5);  // NVML averages shares of processes over about a second
constexpr std::uint64_t kSlowdownBits =
    0xfc;  // power, thermal, brake, sync boost; not idle, nor clocks that somebody set

std::optional<double> as_double(const std::optional<int>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::optional<double> rate(const std::optional<std::uint64_t>& before, const std::optional<std::uint64_t>& after,
                           double seconds) {
  if (!before || !after || seconds <= 0 || *after < *before) return std::nullopt;
  return static_cast<double>(*after - *before) / seconds;
}

/// Of counters with 32 bits, which may have gone round meanwhile: once at most, if `peak_per_s` holds.
std::optional<double> wrapping_rate(const std::optional<std::uint64_t>& before,
                                    const std::optional<std::uint64_t>& after, double seconds, double peak_per_s) {
  constexpr double kRound = 4294967296.0;
  if (!before || !after || seconds <= 0 || seconds * peak_per_s >= kRound) return std::nullopt;
  return static_cast<double>(static_cast<std::uint32_t>(*after - *before)) / seconds;
}

/// Bytes a second in one direction before the link's own overhead; infinite where the link is not known.
double pcie_peak_bytes_per_s(const GpuReading& facts) {
  constexpr std::array<double, 6> kGigatransfersPerS{2.5, 5, 8, 16, 32, 64};  // a lane, of generation 1 and on
  const auto generation = facts.max_pcie_generation.value_or(0);
  if (!facts.max_pcie_width || generation < 1 || generation > static_cast<double>(kGigatransfersPerS.size()))
    return std::numeric_limits<double>::infinity();
  return kGigatransfersPerS[static_cast<std::size_t>(generation) - 1] * 1e9 / 8 * *facts.max_pcie_width;
}

}  // namespace

GpuProbe::GpuProbe(std::shared_ptr<const gpu::NvmlApi> api, gpu::nvml::Device handle, int index, bool measure_pcie)
    : api_(api), handle_(handle), device_(api, handle), live_(std::move(api), handle), measure_pcie_(measure_pcie) {
  facts_.index = index;
  read_facts();
}

void GpuProbe::read_facts() {
  facts_.name = device_.name();
  facts_.uuid = device_.uuid();
  facts_.pci_bus_id = device_.pci_bus_id();
  facts_.max_sm_clock_mhz = device_.max_clock_mhz(gpu::nvml::kSmClock);
  facts_.slowdown_temperature_c = live_.slowdown_temperature_c();
  peak_bandwidth_ = live_.peak_memory_bandwidth();
  if (auto gpm = gpu::GpmReader::open(api_, handle_))
    gpm_.reader = std::move(*gpm);
  else
    facts_.note = gpm.error().message;
}

void GpuProbe::read_slow(base::Nanoseconds now) {
  if (slow_before_ && now - *slow_before_ < kSlowEvery) return;
  slow_before_ = now;
  counts_slowdowns_now_ = true;
  facts_.power_limit_w = device_.power_limit_w();
  const auto link = live_.pcie_link();
  facts_.pcie_generation = as_double(link.generation);
  facts_.pcie_width = as_double(link.width);
  facts_.max_pcie_generation = as_double(link.max_generation);
  facts_.max_pcie_width = as_double(link.max_width);
  const auto links = live_.nvlink_links();
  facts_.nvlink_links_active = links ? std::optional(static_cast<double>(links->active)) : std::nullopt;
  facts_.nvlink_links_present = links ? std::optional(static_cast<double>(links->present)) : std::nullopt;
  const auto energy = device_.energy_mj();
  facts_.energy_total_j = energy ? std::optional(static_cast<double>(*energy) * 1e-3) : std::nullopt;
  energy_is_new_ = energy.has_value();

  const auto found = live_.mig_slices();
  const bool same = found.size() == slices_.size() && std::equal(found.begin(), found.end(), slices_.begin(),
                                                                 [](const auto& now_there, const Slice& known) {
                                                                   return now_there.uuid == known.facts.uuid;
                                                                 });
  if (same) return;
  slices_.clear();
  for (const auto& slice : found) {
    Slice known;
    known.facts.name = slice.name;
    known.facts.uuid = slice.uuid;
    known.handle = slice.handle;
    if (slice.gpu_instance)
      if (auto gpm = gpu::GpmReader::open(api_, handle_, slice.gpu_instance)) known.gpm.reader = std::move(*gpm);
    slices_.push_back(std::move(known));
  }
}

const std::optional<gpu::GpmReading>& GpuProbe::PacedGpm::read(base::Nanoseconds now) {
  if (!reader) return latest;
  left_out = latest && !left_out && now - at < kGpmEvery;
  if (left_out) return latest;
  latest = reader->read();
  at = now;
  return latest;
}

GpuReading GpuProbe::read(base::Nanoseconds now) {
  if (const auto alive = live_.alive(); !alive) {
    auto gone = facts_;
    for (auto* const read : {&gone.power_limit_w, &gone.energy_total_j, &gone.pcie_generation, &gone.pcie_width,
                             &gone.nvlink_links_active, &gone.nvlink_links_present})
      read->reset();
    gone.state = GpuState::lost;
    gone.note = alive.error().message;
    before_.reset();  // a rate over the gap would be wrong
    gpm_.latest.reset();
    return gone;
  }
  read_slow(now);
  const double seconds = before_ ? base::to_seconds(now - *before_) : 0;
  auto reading = facts_;
  const auto gpm = gpm_.read(now);
  if (gpm) {
    reading.sm_percent = gpm->sm_percent;
    reading.occupancy_percent = gpm->occupancy_percent;
    reading.tensor_percent = gpm->tensor_percent;
    reading.dram_percent = gpm->dram_percent;
    if (gpm->dram_percent && peak_bandwidth_) reading.dram_bytes_per_s = *gpm->dram_percent / 100 * *peak_bandwidth_;
  }
  reading.utilization_percent = device_.utilization_percent();
  reading.memory_busy_percent = live_.memory_busy_percent();
  reading.encoder_percent = live_.encoder_percent();
  reading.decoder_percent = live_.decoder_percent();
  if (const auto memory = device_.memory()) {
    reading.memory_used_bytes = static_cast<double>(memory->used);
    reading.memory_total_bytes = static_cast<double>(memory->total);
  }
  reading.sm_clock_mhz = device_.clock_mhz(gpu::nvml::kSmClock);
  reading.memory_clock_mhz = device_.clock_mhz(gpu::nvml::kMemoryClock);
  reading.temperature_c = device_.temperature_c();
  if (has_fan_) reading.fan_percent = live_.fan_percent();
  has_fan_ = reading.fan_percent.has_value();  // where there is none, asking takes half a millisecond
  reading.power_w = device_.power_w();
  reading.performance_state = as_double(live_.performance_state());
  // The counters stand still while nothing throttles the clocks; in between the reasons tell which of them run.
  const auto reasons = device_.clock_reasons();
  if (reasons) reading.slowdown_reasons = schema::clock_reason_names(*reasons);
  held_since_count_ = held_since_count_ || !reasons || (*reasons & kSlowdownBits) != 0;
  const bool count = counts_slowdowns_now_ || (held_since_count_ && now - slowdowns_read_ >= kSlowdownsEvery);
  counts_slowdowns_now_ = false;
  if (count) {
    slowdowns_read_ = now;
    held_since_count_ = false;
  }
  const bool links = facts_.nvlink_links_active.value_or(0) > 0;
  const bool gpm_has_traffic = gpm && gpm->pcie_sent_per_s && (gpm->nvlink_sent_per_s || !links);
  const auto fields = live_.fields({count, !gpm_has_traffic});
  reading.power_instant_w = fields.power_instant_w;
  reading.memory_temperature_c = fields.memory_temperature_c;
  read_traffic(reading, fields, gpm, seconds);
  read_slowdowns(reading, fields, seconds, count);
  read_energy(reading, seconds);
  read_slices(reading, now);
  fields_before_ = fields;
  before_ = now;
  return reading;
}

void GpuProbe::read_traffic(GpuReading& reading, const gpu::LiveFields& fields,
                            const std::optional<gpu::GpmReading>& gpm, double seconds) {
  const auto& past = fields_before_;
  // The two readings of the counters are not quite as far apart as the looks.
  if (seconds > 0 && past.traffic_time_us && fields.traffic_time_us)
    seconds = static_cast<double>(*fields.traffic_time_us - *past.traffic_time_us) * 1e-6;
  const double peak = pcie_peak_bytes_per_s(facts_);
  const auto either = [&](std::optional<double> gpu::GpmReading::*member, const Counter& before, const Counter& after,
                          bool wraps) {
    if (gpm && (*gpm).*member) return (*gpm).*member;
    return wraps ? wrapping_rate(before, after, seconds, peak) : rate(before, after, seconds);
  };
  using Gpm = gpu::GpmReading;
  reading.pcie_sent_bytes_per_s =
      either(&Gpm::pcie_sent_per_s, past.pcie_sent_bytes, fields.pcie_sent_bytes, fields.pcie_wraps);
  reading.pcie_received_bytes_per_s =
      either(&Gpm::pcie_received_per_s, past.pcie_received_bytes, fields.pcie_received_bytes, fields.pcie_wraps);
  reading.nvlink_sent_bytes_per_s =
      either(&Gpm::nvlink_sent_per_s, past.nvlink_sent_bytes, fields.nvlink_sent_bytes, false);
  reading.nvlink_received_bytes_per_s =
      either(&Gpm::nvlink_received_per_s, past.nvlink_received_bytes, fields.nvlink_received_bytes, false);
  const bool counted = fields.pcie_sent_bytes && !fields.pcie_wraps;
  if (measure_pcie_ && !reading.pcie_sent_bytes_per_s && !counted && !gpm_.reader) {
    reading.pcie_sent_bytes_per_s = live_.pcie_sent_per_s();
    reading.pcie_received_bytes_per_s = live_.pcie_received_per_s();
  }
}

void GpuProbe::read_slowdowns(GpuReading& reading, const gpu::LiveFields& fields, double seconds, bool counted) {
  const auto& active = reading.slowdown_reasons;
  for (std::size_t i = 0; i < gpu::kSlowdownCauses.size(); ++i) {
    const std::string cause = gpu::kSlowdownCauses[i];
    const bool is_active = std::find(active.begin(), active.end(), cause) != active.end();
    if (counted && fields.slowdown_ns[i]) {
      const auto total_s = static_cast<double>(*fields.slowdown_ns[i]) * 1e-9;
      auto [known, added] = slowdowns_.try_emplace(cause);
      auto& slowdown = known->second;
      if (added || total_s < slowdown.counter_s)  // the driver was loaded again
        slowdown.start_s = slowdown.shown_s = slowdown.counter_s = total_s;
      if (is_active) slowdown.active_s += seconds;
      if (slowdown.active_s > 0) slowdown.pace = std::min(1.0, (total_s - slowdown.counter_s) / slowdown.active_s);
      slowdown.active_s = 0;
      slowdown.counter_s = total_s;
      slowdown.shown_s = std::max(slowdown.shown_s, total_s);  // what ran ahead of the counter waits for it
    } else if (const auto known = slowdowns_.find(cause); !counted && is_active && known != slowdowns_.end()) {
      auto& slowdown = known->second;
      slowdown.active_s += seconds;
      slowdown.shown_s = std::max(slowdown.shown_s, slowdown.counter_s + slowdown.pace * slowdown.active_s);
    }
  }
  for (const auto& [cause, slowdown] : slowdowns_) {
    reading.slowdown_since_start_s[cause] = slowdown.shown_s - slowdown.start_s;
    reading.slowdown_total_s[cause] = slowdown.shown_s;
  }
}

void GpuProbe::read_energy(GpuReading& reading, double seconds) {
  if (!facts_.energy_total_j) return;
  if (energy_is_new_) {
    energy_is_new_ = false;
    energy_estimated_j_ = 0;
    if (!energy_at_start_j_ || *facts_.energy_total_j < energy_read_j_)  // the driver was loaded again
      energy_at_start_j_ = *facts_.energy_total_j - energy_shown_j_.value_or(0);
    energy_read_j_ = *facts_.energy_total_j;
  } else {
    energy_estimated_j_ += reading.power_w.value_or(0) * seconds;
  }
  // An estimate that ran ahead of the counter must not make the energy shrink.
  energy_shown_j_ =
      std::max(energy_shown_j_.value_or(0), *facts_.energy_total_j - *energy_at_start_j_ + energy_estimated_j_);
  reading.energy_since_start_j = energy_shown_j_;
  reading.energy_total_j = *energy_at_start_j_ + *energy_shown_j_;
}

void GpuProbe::read_slices(GpuReading& reading, base::Nanoseconds now) {
  for (auto& slice : slices_) {
    auto shown = slice.facts;
    if (const auto memory = gpu::NvmlDevice(api_, slice.handle).memory()) {
      shown.memory_used_bytes = static_cast<double>(memory->used);
      shown.memory_total_bytes = static_cast<double>(memory->total);
    }
    if (const auto& gpm = slice.gpm.read(now)) {
      shown.sm_percent = gpm->sm_percent;
      shown.tensor_percent = gpm->tensor_percent;
      shown.dram_percent = gpm->dram_percent;
    }
    reading.slices.push_back(std::move(shown));
  }
}

void GpuProbe::read_shares(base::Nanoseconds now) {
  if (shares_read_ && now - *shares_read_ < kSharesEvery) return;
  shares_read_ = now;
  const auto found = live_.process_shares(shares_until_us_);
  knows_shares_ = found.has_value();
  if (!found) return;
  std::map<std::int64_t, std::pair<double, int>> sums;
  for (const auto& share : *found) {
    shares_until_us_ = std::max(shares_until_us_, share.timestamp_us);
    auto& [sum, count] = sums[share.pid];
    sum += share.sm_percent;
    ++count;
  }
  for (const auto& [pid, sum] : sums) shares_[pid] = {sum.first / sum.second, now};
  for (auto at = shares_.begin(); at != shares_.end();)
    at = now - at->second.second > kShareValidFor ? shares_.erase(at) : std::next(at);
}

std::vector<ProcessReading> GpuProbe::processes(base::Nanoseconds now) {
  std::vector<ProcessReading> out;
  auto running = live_.processes();
  if (running && running->empty())  // of a divided GPU, the slices have the processes
    for (const auto& slice : slices_)
      if (const auto more = gpu::NvmlLive(api_, slice.handle).processes())
        running->insert(running->end(), more->begin(), more->end());
  if (!running || running->empty()) return out;
  read_shares(now);
  for (const auto& process : *running) {
    auto& shown = out.emplace_back();
    shown.pid = process.pid;
    if (!knows_shares_) continue;
    const auto share = shares_.find(process.pid);
    shown.sm_percent = share != shares_.end() ? share->second.first : 0;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto& process = (*running)[i];
    out[i].gpu = facts_.index;
    out[i].kind = process.compute && process.graphics ? "both" : process.graphics ? "graphics" : "compute";
    if (process.memory_bytes) out[i].gpu_memory_bytes = static_cast<double>(*process.memory_bytes);
  }
  return out;
}

}  // namespace ridgeline::monitor
