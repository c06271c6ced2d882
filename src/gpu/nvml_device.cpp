// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_device.hpp"

#include <utility>

namespace ridgeline::gpu {
namespace {

constexpr std::array<const char*, 9> kArchitectures{"Kepler", "Maxwell", "Pascal", "Volta",    "Turing",
                                                    "Ampere", "Ada",     "Hopper", "Blackwell"};  // from 2

// nvmlPerfPolicyType_t, and the field that counts the same where the call above is not supported; in the order of
// kThrottleCauses. Being held below application or base clocks is a consequence, low utilization is no throttling.
constexpr std::array<int, kThrottleCauses.size()> kPolicies{0, 1, 2, 3, 5};
constexpr std::array<unsigned, kThrottleCauses.size()> kPolicyFields{74, 75, 76, 77, 79};

/// CUDA cores of one multiprocessor (CUDA programming guide, arithmetic instructions: FP32 lanes).
std::optional<int> cores_a_multiprocessor(int major, int minor) {
  switch (major) {
    case 5: return 128;
    case 6: return minor == 0 ? 64 : 128;
    case 7: return 64;
    case 8: return minor == 0 ? 64 : 128;
    case 9:
    case 10:
    case 11:
    case 12: return 128;
    default: return std::nullopt;
  }
}

std::optional<double> read_watts(nvml::Status (*function)(nvml::Device, unsigned*), nvml::Device device) {
  unsigned milliwatts = 0;
  if (function == nullptr || function(device, &milliwatts) != nvml::kSuccess) return std::nullopt;
  return static_cast<double>(milliwatts) * 1e-3;
}

std::optional<double> read_clock(nvml::Status (*function)(nvml::Device, int, unsigned*), nvml::Device device,
                                 int type) {
  unsigned mhz = 0;
  if (function == nullptr || function(device, type, &mhz) != nvml::kSuccess) return std::nullopt;
  return static_cast<double>(mhz);
}

std::string read_text(nvml::Status (*function)(nvml::Device, char*, unsigned), nvml::Device device) {
  std::array<char, 128> text{};
  if (function == nullptr || function(device, text.data(), static_cast<unsigned>(text.size())) != nvml::kSuccess)
    return "";
  return text.data();
}

std::optional<std::int64_t> known_bytes(unsigned long long bytes) {
  return bytes == nvml::kUnknownBytes ? std::nullopt : std::optional(static_cast<std::int64_t>(bytes));
}

}  // namespace

std::string NvmlDevice::name() const { return read_text(functions().name, handle_); }
std::string NvmlDevice::uuid() const { return read_text(functions().uuid, handle_); }

std::string NvmlDevice::pci_bus_id() const {
  nvml::PciInfo info{};
  if (functions().pci_info == nullptr || functions().pci_info(handle_, &info) != nvml::kSuccess) return "";
  return info.bus_id;
}

std::string NvmlDevice::architecture() const {
  unsigned number = 0;
  if (functions().architecture == nullptr || functions().architecture(handle_, &number) != nvml::kSuccess) return "";
  return number >= 2 && number - 2 < kArchitectures.size() ? kArchitectures[number - 2] : "";
}

std::string NvmlDevice::compute_capability() const {
  int major = 0;
  int minor = 0;
  if (functions().compute_capability == nullptr ||
      functions().compute_capability(handle_, &major, &minor) != nvml::kSuccess)
    return "";
  return fmt::format("{}.{}", major, minor);
}

std::optional<int> NvmlDevice::multiprocessors() const {
  int major = 0;
  int minor = 0;
  unsigned cores = 0;
  if (functions().compute_capability == nullptr || functions().core_count == nullptr ||
      functions().compute_capability(handle_, &major, &minor) != nvml::kSuccess ||
      functions().core_count(handle_, &cores) != nvml::kSuccess)
    return std::nullopt;
  const auto each = cores_a_multiprocessor(major, minor);
  if (!each || cores == 0 || cores % static_cast<unsigned>(*each) != 0) return std::nullopt;
  return static_cast<int>(cores) / *each;
}

std::optional<nvml::Memory> NvmlDevice::memory() const {
  nvml::Memory memory{};
  if (functions().memory_info == nullptr || functions().memory_info(handle_, &memory) != nvml::kSuccess)
    return std::nullopt;
  return memory;
}

std::optional<double> NvmlDevice::clock_mhz(nvml::ClockType type) const {
  return read_clock(functions().clock, handle_, type);
}
std::optional<double> NvmlDevice::max_clock_mhz(nvml::ClockType type) const {
  return read_clock(functions().max_clock, handle_, type);
}
std::optional<double> NvmlDevice::temperature_c() const { return read_clock(functions().temperature, handle_, 0); }
std::optional<double> NvmlDevice::power_w() const { return read_watts(functions().power_usage, handle_); }
std::optional<double> NvmlDevice::power_limit_w() const { return read_watts(functions().power_limit, handle_); }
std::optional<double> NvmlDevice::default_power_limit_w() const {
  return read_watts(functions().default_power_limit, handle_);
}

std::optional<double> NvmlDevice::utilization_percent() const {
  nvml::Utilization rates{};
  if (functions().utilization == nullptr || functions().utilization(handle_, &rates) != nvml::kSuccess)
    return std::nullopt;
  return static_cast<double>(rates.gpu);
}

std::optional<std::uint64_t> NvmlDevice::clock_reasons() const {
  unsigned long long bits = 0;
  if (functions().clock_reasons == nullptr || functions().clock_reasons(handle_, &bits) != nvml::kSuccess)
    return std::nullopt;
  return bits;
}

std::optional<bool> NvmlDevice::mig() const {
  unsigned current = 0;
  unsigned pending = 0;
  if (functions().mig_mode == nullptr || functions().mig_mode(handle_, &current, &pending) != nvml::kSuccess)
    return std::nullopt;
  return current != 0;
}

std::optional<bool> NvmlDevice::ecc() const {
  int current = 0;
  int pending = 0;
  if (functions().ecc_mode == nullptr || functions().ecc_mode(handle_, &current, &pending) != nvml::kSuccess)
    return std::nullopt;
  return current != 0;
}

std::optional<bool> NvmlDevice::persistence() const {
  int mode = 0;
  if (functions().persistence_mode == nullptr || functions().persistence_mode(handle_, &mode) != nvml::kSuccess)
    return std::nullopt;
  return mode != 0;
}

std::optional<std::vector<schema::GpuNeighbour>> NvmlDevice::compute_processes() const {
  if (functions().compute_processes == nullptr) return std::nullopt;
  std::vector<nvml::ProcessInfo> list(16);
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto count = static_cast<unsigned>(list.size());
    const auto status = functions().compute_processes(handle_, &count, list.data());
    if (status == nvml::kInsufficientSize) {
      list.resize(static_cast<std::size_t>(count) + 16);  // more may start meanwhile
      continue;
    }
    if (status != nvml::kSuccess) return std::nullopt;
    std::vector<schema::GpuNeighbour> found;
    for (unsigned i = 0; i < count && i < list.size(); ++i)
      found.push_back({static_cast<std::int64_t>(list[i].pid), known_bytes(list[i].used_memory)});
    return found;
  }
  return std::nullopt;
}

std::optional<std::int64_t> NvmlDevice::process_high_water_bytes(std::int64_t pid) const {
  int enabled = 0;
  if (functions().accounting_mode == nullptr || functions().accounting_stats == nullptr ||
      functions().accounting_mode(handle_, &enabled) != nvml::kSuccess || enabled == 0)
    return std::nullopt;
  nvml::AccountingStats stats{};
  if (functions().accounting_stats(handle_, static_cast<unsigned>(pid), &stats) != nvml::kSuccess) return std::nullopt;
  return known_bytes(stats.max_memory_usage);
}

std::optional<std::uint64_t> NvmlDevice::energy_mj() const {
  unsigned long long total = 0;
  if (functions().total_energy == nullptr || functions().total_energy(handle_, &total) != nvml::kSuccess)
    return std::nullopt;
  return total;
}

ThrottleCounters NvmlDevice::throttle_counters() const {
  ThrottleCounters counters;
  bool missing = false;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    nvml::ViolationTime time{};
    if (functions().violation_status != nullptr &&
        functions().violation_status(handle_, kPolicies[i], &time) == nvml::kSuccess)
      counters[i] = time.violation_time;
    else
      missing = true;
  }
  if (missing) read_counter_fields(counters);
  return counters;
}

void NvmlDevice::read_counter_fields(ThrottleCounters& counters) const {
  if (functions().field_values == nullptr) return;
  std::array<nvml::FieldValue, kThrottleCauses.size()> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i].field = kPolicyFields[i];
  if (functions().field_values(handle_, static_cast<int>(fields.size()), fields.data()) != nvml::kSuccess) return;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (counters[i] || fields[i].status != nvml::kSuccess) continue;
    switch (fields[i].type) {
      case nvml::kUnsignedInt: counters[i] = fields[i].value.unsigned_int; break;
      case nvml::kUnsignedLong: counters[i] = fields[i].value.unsigned_long; break;
      case nvml::kUnsignedLongLong: counters[i] = fields[i].value.unsigned_long_long; break;
      case nvml::kSignedLongLong:
        if (fields[i].value.signed_long_long >= 0)
          counters[i] = static_cast<std::uint64_t>(fields[i].value.signed_long_long);
        break;
      default: break;
    }
  }
}

}  // namespace ridgeline::gpu
