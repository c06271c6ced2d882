// SPDX-License-Identifier: Apache-2.0
#include "driver_devices.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

#include "driver_calls.hpp"

namespace ridgeline::inject {
namespace {

// Numbers of CUdevice_attribute, the same in all releases of CUDA.
constexpr int kMultiprocessors = 16;
constexpr int kMemoryClockKhz = 36;
constexpr int kMemoryBusBits = 37;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
constexpr int kLongestName = 256;
constexpr std::int64_t kTransfersPerClock = 2;
constexpr std::int64_t kHzPerKhz = 1'000;
constexpr std::int64_t kBitsPerByte = 8;

using Uuid = std::array<unsigned char, 16>;

template <typename Function>
Function look_up(const char* name) {
  return reinterpret_cast<Function>(driver_function(name));
}

std::string text_of(const char* kind, const Uuid& uuid) {
  std::string out = kind;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    std::array<char, 4> byte{};
    std::snprintf(byte.data(), byte.size(), "%02x", uuid[i]);
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += byte.data();
  }
  return out;
}

/// The second version of the call has the UUID of a MIG instance, and the first that of its GPU.
std::string uuid_of(int device) {
  using Get = int (*)(Uuid*, int);
  Uuid gpu{};
  Uuid instance{};
  const auto of_gpu = look_up<Get>("cuDeviceGetUuid");
  const auto of_instance = look_up<Get>("cuDeviceGetUuid_v2");
  const bool has_gpu = of_gpu != nullptr && of_gpu(&gpu, device) == 0;
  const bool has_instance = of_instance != nullptr && of_instance(&instance, device) == 0;
  if (has_gpu && has_instance && gpu != instance) return text_of("MIG", instance);
  if (has_gpu || has_instance) return text_of("GPU", has_gpu ? gpu : instance);
  return {};
}

}  // namespace

std::vector<DriverDevice> driver_devices() {
  std::vector<DriverDevice> out;
  const auto get_count = look_up<int (*)(int*)>("cuDeviceGetCount");
  const auto get = look_up<int (*)(int*, int)>("cuDeviceGet");
  const auto get_name = look_up<int (*)(char*, int, int)>("cuDeviceGetName");
  const auto get_attribute = look_up<int (*)(int*, int, int)>("cuDeviceGetAttribute");
  int count = 0;
  if (get_count == nullptr || get == nullptr || get_name == nullptr || get_attribute == nullptr ||
      get_count(&count) != 0)
    return out;
  for (int i = 0; i < count; ++i) {
    int device = 0;
    if (get(&device, i) != 0) continue;
    const auto attribute = [&](int number) {
      int value = 0;
      return get_attribute(&value, number, device) == 0 ? value : 0;
    };
    std::array<char, kLongestName> name{};
    (void)get_name(name.data(), kLongestName - 1, device);
    DriverDevice one;
    one.device.id = i;
    one.device.name = name.data();
    one.device.multiprocessors = attribute(kMultiprocessors);
    one.device.compute_capability =
        std::to_string(attribute(kCapabilityMajor)) + "." + std::to_string(attribute(kCapabilityMinor));
    one.device.memory_bytes_per_s =
        kTransfersPerClock * kHzPerKhz * attribute(kMemoryClockKhz) * attribute(kMemoryBusBits) / kBitsPerByte;
    one.uuid = uuid_of(device);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace ridgeline::inject
