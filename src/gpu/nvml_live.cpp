// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_live.hpp"

#include <algorithm>
#include <utility>

namespace ridgeline::gpu {
namespace {

constexpr unsigned kMaxLinks = 18;   // NVML_NVLINK_MAX_LINKS
constexpr unsigned kAllLinks = ~0U;  // scope of the field: all links together

// Field numbers of nvml.h.
enum Field : unsigned {
  kPowerPolicy = 74,
  kThermalPolicy = 75,
  kSyncBoostPolicy = 76,
  kMemoryTemperature = 82,
  kNvlinkDataSent = 138,      // KiB
  kNvlinkDataReceived = 139,  // KiB
  kPowerInstant = 186,        // mW
  kPcieSent = 197,
  kPcieReceived = 198,
  kSwThermalSlowdown = 269,
  kHwThermalSlowdown = 270,
  kHwPowerBrake = 271,
};
// In the order of kSlowdownCauses.
constexpr std::array<Field, kSlowdownCauses.size()> kSlowdownFields{
    kPowerPolicy, kSwThermalSlowdown, kHwThermalSlowdown, kHwPowerBrake, kSyncBoostPolicy, kThermalPolicy};
constexpr std::array<Field, 4> kTrafficFields{kPcieSent, kPcieReceived, kNvlinkDataSent, kNvlinkDataReceived};

std::optional<std::uint64_t> unsigned_value(const nvml::FieldValue& field) {
  if (field.status != nvml::kSuccess) return std::nullopt;
  switch (field.type) {
    case nvml::kUnsignedInt: return field.value.unsigned_int;
    case nvml::kUnsignedLong: return field.value.unsigned_long;
    case nvml::kUnsignedLongLong: return field.value.unsigned_long_long;
    case nvml::kSignedLongLong:
      if (field.value.signed_long_long >= 0) return static_cast<std::uint64_t>(field.value.signed_long_long);
      return std::nullopt;
    default: return std::nullopt;
  }
}

std::optional<std::uint64_t> wide_value(const nvml::FieldValue& field) {
  return field.type == nvml::kUnsignedInt ? std::nullopt : unsigned_value(field);
}

std::optional<std::uint64_t> kib_value(const nvml::FieldValue& field) {
  const auto kib = wide_value(field);
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

std::optional<double> scaled(const nvml::FieldValue& field, double scale) {
  const auto value = unsigned_value(field);
  return value ? std::optional(static_cast<double>(*value) * scale) : std::nullopt;
}

std::optional<unsigned> read(nvml::Status (*function)(nvml::Device, unsigned*), nvml::Device device) {
  unsigned value = 0;
  if (function == nullptr || function(device, &value) != nvml::kSuccess) return std::nullopt;
  return value;
}

std::optional<int> read_int(nvml::Status (*function)(nvml::Device, unsigned*), nvml::Device device) {
  const auto value = read(function, device);
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<double> read_percent(nvml::Status (*function)(nvml::Device, unsigned*), nvml::Device device) {
  const auto value = read(function, device);
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::optional<double> read_codec(nvml::Status (*function)(nvml::Device, unsigned*, unsigned*), nvml::Device device) {
  unsigned percent = 0;
  unsigned period = 0;
  if (function == nullptr || function(device, &percent, &period) != nvml::kSuccess) return std::nullopt;
  return static_cast<double>(percent);
}

std::optional<double> read_pcie(nvml::Status (*function)(nvml::Device, int, unsigned*), nvml::Device device,
                                int direction) {
  unsigned kilobytes = 0;
  if (function == nullptr || function(device, direction, &kilobytes) != nvml::kSuccess) return std::nullopt;
  return static_cast<double>(kilobytes) * 1e3;
}

using ListFunction = nvml::Status (*)(nvml::Device, unsigned*, nvml::ProcessInfo*);

std::optional<std::vector<nvml::ProcessInfo>> list(ListFunction function, nvml::Device device) {
  if (function == nullptr) return std::nullopt;
  std::vector<nvml::ProcessInfo> found(16);
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto count = static_cast<unsigned>(found.size());
    const auto status = function(device, &count, found.data());
    if (status == nvml::kInsufficientSize) {
      found.resize(static_cast<std::size_t>(count) + 16);  // more may start meanwhile
      continue;
    }
    if (status != nvml::kSuccess) return std::nullopt;
    found.resize(std::min<std::size_t>(count, found.size()));
    return found;
  }
  return std::nullopt;
}

void merge(std::vector<RunningProcess>& processes, const std::vector<nvml::ProcessInfo>& more,
           bool RunningProcess::*kind) {
  for (const auto& info : more) {
    const auto pid = static_cast<std::int64_t>(info.pid);
    auto at = std::find_if(processes.begin(), processes.end(), [&](const auto& known) { return known.pid == pid; });
    if (at == processes.end()) {
      processes.push_back({pid, std::nullopt, false, false});
      at = std::prev(processes.end());
    }
    (*at).*kind = true;
    // A process that computes and draws is in both lists with the same memory.
    if (info.used_memory != nvml::kUnknownBytes)
      at->memory_bytes = std::max(at->memory_bytes.value_or(0), static_cast<std::int64_t>(info.used_memory));
  }
}

std::string text_of(nvml::Status (*function)(nvml::Device, char*, unsigned), nvml::Device device) {
  std::array<char, 128> text{};
  if (function == nullptr || function(device, text.data(), static_cast<unsigned>(text.size())) != nvml::kSuccess)
    return "";
  return text.data();
}

}  // namespace

base::Result<void> NvmlLive::alive() const {
  unsigned temperature = 0;
  nvml::Memory memory{};
  const auto gone = [](nvml::Status status) { return status == nvml::kGpuLost || status == nvml::kResetRequired; };
  auto status =
      functions().temperature != nullptr ? functions().temperature(handle_, 0, &temperature) : nvml::kFunctionNotFound;
  if (status == nvml::kSuccess) return {};
  if (!gone(status) && functions().memory_info != nullptr) {
    const auto second = functions().memory_info(handle_, &memory);
    if (second == nvml::kSuccess || second == nvml::kNotSupported) return {};
    status = second;
  }
  // A MIG slice or a restricted user may be refused single readings; that is no lost GPU.
  if (status == nvml::kNotSupported || status == nvml::kNoPermission || status == nvml::kFunctionNotFound) return {};
  auto error = api_->error(status, "reading the GPU");
  error.code = base::ErrorCode::unavailable;
  return tl::unexpected<base::Error>(std::move(error));
}

LiveFields NvmlLive::fields(LiveFieldChoice choice) const {
  LiveFields out;
  std::vector<nvml::FieldValue> values;
  const auto ask = [&](Field field) {
    auto& value = values.emplace_back();
    value.field = field;
    if (field == kNvlinkDataSent || field == kNvlinkDataReceived) value.scope = kAllLinks;
  };
  ask(kPowerInstant);
  ask(kMemoryTemperature);
  if (choice.traffic)
    for (const auto field : kTrafficFields) ask(field);
  const auto slowdowns_at = values.size();
  if (choice.slowdowns)
    for (const auto field : kSlowdownFields) ask(field);
  if (functions().field_values != nullptr &&
      functions().field_values(handle_, static_cast<int>(values.size()), values.data()) == nvml::kSuccess) {
    out.power_instant_w = scaled(values[0], 1e-3);
    out.memory_temperature_c = scaled(values[1], 1.0);
    if (choice.traffic) {
      out.pcie_sent_bytes = unsigned_value(values[2]);
      out.pcie_received_bytes = unsigned_value(values[3]);
      out.pcie_wraps = values[2].type == nvml::kUnsignedInt || values[3].type == nvml::kUnsignedInt;
      if (values[2].timestamp_us > 0) out.traffic_time_us = values[2].timestamp_us;
      out.nvlink_sent_bytes = kib_value(values[4]);
      out.nvlink_received_bytes = kib_value(values[5]);
    }
    if (choice.slowdowns)
      for (std::size_t i = 0; i < kSlowdownFields.size(); ++i)
        out.slowdown_ns[i] = unsigned_value(values[slowdowns_at + i]);
  }
  if (!choice.slowdowns) return out;
  // Older drivers count the same under policies: power 0, thermal 1, sync boost 2.
  constexpr std::array<std::pair<std::size_t, int>, 3> kPolicies{{{0, 0}, {5, 1}, {4, 2}}};
  for (const auto& [cause, policy] : kPolicies) {
    nvml::ViolationTime time{};
    if (!out.slowdown_ns[cause] && functions().violation_status != nullptr &&
        functions().violation_status(handle_, policy, &time) == nvml::kSuccess)
      out.slowdown_ns[cause] = time.violation_time;
  }
  // The sum of what is known in detail already.
  if (out.slowdown_ns[1] || out.slowdown_ns[2]) out.slowdown_ns[5].reset();
  return out;
}

std::optional<double> NvmlLive::memory_busy_percent() const {
  nvml::Utilization rates{};
  if (functions().utilization == nullptr || functions().utilization(handle_, &rates) != nvml::kSuccess)
    return std::nullopt;
  return static_cast<double>(rates.memory);
}

std::optional<double> NvmlLive::encoder_percent() const { return read_codec(functions().encoder_utilization, handle_); }
std::optional<double> NvmlLive::decoder_percent() const { return read_codec(functions().decoder_utilization, handle_); }
std::optional<double> NvmlLive::fan_percent() const { return read_percent(functions().fan_speed, handle_); }

std::optional<int> NvmlLive::performance_state() const {
  int state = 0;
  if (functions().performance_state == nullptr || functions().performance_state(handle_, &state) != nvml::kSuccess ||
      state < 0 || state > 15)
    return std::nullopt;
  return state;
}

std::optional<double> NvmlLive::slowdown_temperature_c() const {
  constexpr int kSlowdown = 1;
  unsigned celsius = 0;
  if (functions().temperature_threshold == nullptr ||
      functions().temperature_threshold(handle_, kSlowdown, &celsius) != nvml::kSuccess || celsius == 0)
    return std::nullopt;
  return static_cast<double>(celsius);
}

std::optional<double> NvmlLive::peak_memory_bandwidth() const {
  const auto bits = read(functions().memory_bus_width, handle_);
  unsigned mhz = 0;
  if (!bits || *bits == 0 || functions().max_clock == nullptr ||
      functions().max_clock(handle_, nvml::kMemoryClock, &mhz) != nvml::kSuccess || mhz == 0)
    return std::nullopt;
  return 2.0 * mhz * 1e6 * (*bits / 8.0);
}

PcieLinkNow NvmlLive::pcie_link() const {
  return {read_int(functions().pcie_generation, handle_), read_int(functions().pcie_width, handle_),
          read_int(functions().max_pcie_generation, handle_), read_int(functions().max_pcie_width, handle_)};
}

std::optional<double> NvmlLive::pcie_sent_per_s() const { return read_pcie(functions().pcie_throughput, handle_, 0); }
std::optional<double> NvmlLive::pcie_received_per_s() const {
  return read_pcie(functions().pcie_throughput, handle_, 1);
}

std::optional<NvlinkLinks> NvmlLive::nvlink_links() const {
  if (functions().nvlink_state == nullptr) return std::nullopt;
  NvlinkLinks links;
  for (unsigned link = 0; link < kMaxLinks; ++link) {
    int active = 0;
    if (functions().nvlink_state(handle_, link, &active) != nvml::kSuccess) break;
    ++links.present;
    if (active != 0) ++links.active;
  }
  return links.present > 0 ? std::optional(links) : std::nullopt;
}

std::optional<std::vector<RunningProcess>> NvmlLive::processes() const {
  const auto compute = list(functions().compute_processes, handle_);
  const auto graphics = list(functions().graphics_processes, handle_);
  if (!compute && !graphics) return std::nullopt;
  std::vector<RunningProcess> all;
  if (compute) merge(all, *compute, &RunningProcess::compute);
  if (graphics) merge(all, *graphics, &RunningProcess::graphics);
  return all;
}

std::optional<std::vector<ProcessShare>> NvmlLive::process_shares(std::uint64_t since_us) const {
  if (functions().process_utilization == nullptr) return std::nullopt;
  std::vector<nvml::ProcessUtilization> samples(64);
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto count = static_cast<unsigned>(samples.size());
    const auto status = functions().process_utilization(handle_, samples.data(), &count, since_us);
    if (status == nvml::kNotFound) return std::vector<ProcessShare>{};  // nobody was busy since
    if (status == nvml::kInsufficientSize) {
      samples.resize(static_cast<std::size_t>(count) + 32);
      continue;
    }
    if (status != nvml::kSuccess) return std::nullopt;
    std::vector<ProcessShare> shares;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, samples.size()); ++i)
      // Some drivers leave rubbish above 100 in entries of processes that ended.
      if (samples[i].pid != 0 && samples[i].sm <= 100)
        shares.push_back(
            {static_cast<std::int64_t>(samples[i].pid), samples[i].timestamp_us, static_cast<double>(samples[i].sm)});
    return shares;
  }
  return std::nullopt;
}

std::vector<MigSlice> NvmlLive::mig_slices() const {
  std::vector<MigSlice> slices;
  unsigned current = 0;
  unsigned pending = 0;
  if (functions().mig_mode == nullptr || functions().mig_mode(handle_, &current, &pending) != nvml::kSuccess ||
      current == 0 || functions().mig_device == nullptr)
    return slices;
  const auto most = read(functions().max_mig_devices, handle_).value_or(0);
  for (unsigned i = 0; i < most; ++i) {
    MigSlice slice;
    if (functions().mig_device(handle_, i, &slice.handle) != nvml::kSuccess) continue;
    slice.name = text_of(functions().name, slice.handle);
    slice.uuid = text_of(functions().uuid, slice.handle);
    slice.gpu_instance = read(functions().gpu_instance_id, slice.handle);
    slices.push_back(std::move(slice));
  }
  return slices;
}

}  // namespace ridgeline::gpu
