// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/faster_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <string_view>

namespace ridgeline::trace {
namespace {

struct Capability {
  int from = 0;  ///< ten times the major number and the minor one
  FasterFormat format = FasterFormat::none;
};

// CUDA C++ Programming Guide, "Compute Capabilities": tensor cores take FP16 from 7.0 on, BF16 and TF32 from 8.0 on.
// Before them its table of arithmetic throughput has for 6.1 two results of FP16 per clock and multiprocessor, and 128
// of FP32; for 5.3, 6.0 and 6.2 twice those of FP32, which products that sum up in FP32, as those of PyTorch and ONNX
// Runtime do, do not get.
constexpr std::array kCapabilities{Capability{80, FasterFormat::tf32}, Capability{70, FasterFormat::fp16}};

bool names_one_of(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return name.find(part) != std::string_view::npos; });
}

/// "8.6": 86; 0: none.
int number_of(std::string_view capability) {
  const auto point = capability.find('.');
  int major = 0;
  int minor = 0;
  if (point == std::string_view::npos) return 0;
  const auto* end = capability.data() + capability.size();
  if (std::from_chars(capability.data(), end, major).ptr != capability.data() + point) return 0;
  return std::from_chars(capability.data() + point + 1, end, minor).ptr == end ? major * 10 + minor : 0;
}

/// Numbers of AMD's architectures look like compute capabilities.
bool is_of_amd(const Trace& trace, const Device& device) {
  if (names_one_of(device.name, {"AMD", "Radeon", "Instinct"})) return true;
  return std::any_of(trace.calls.name.begin(), trace.calls.name.end(),
                     [&](NameId name) { return trace.strings.text(name).starts_with("hip"); });
}

}  // namespace

FasterFormat faster_format(const Trace& trace, std::int32_t device) {
  const auto found =
      std::find_if(trace.devices.begin(), trace.devices.end(), [&](const auto& one) { return one.id == device; });
  if (found == trace.devices.end() || is_of_amd(trace, *found)) return FasterFormat::none;
  const auto number = number_of(found->compute_capability);
  const auto known = std::find_if(kCapabilities.begin(), kCapabilities.end(),
                                  [&](const auto& capability) { return number >= capability.from; });
  if (known == kCapabilities.end()) return FasterFormat::none;
  // NVIDIA's papers on GA102 and AD102: a GeForce has the same peak in TF32 as in FP32, and twice that in FP16.
  const bool slow_tf32 = known->format == FasterFormat::tf32 && names_one_of(found->name, {"GeForce"});
  return slow_tf32 ? FasterFormat::half : known->format;
}

}  // namespace ridgeline::trace
