// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/faster_format.hpp"

#include <algorithm>
#include <array>
#include <cctype>
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
// Runtime do, do not get. Of 12.1 (GB10) NVIDIA gives no rates of TF32 and FP16.
constexpr std::array kCapabilities{Capability{121, FasterFormat::none}, Capability{80, FasterFormat::tf32},
                                   Capability{70, FasterFormat::fp16}};

constexpr int kTuring = 75;

/// A100 and A30, H100 and H200, B200: the chips for data centres, by NVIDIA's data sheets (TF32 without sparsity and
/// FP32, TFLOPS: 156 and 19.5, 82 and 10.3, 494 and 67, 1100 and 75).
constexpr std::array kFastTf32{80, 90, 100};

/// Of capability 7.5 TU116 and TU117 have no tensor cores (GeForce GTX 16, MX450, T400 to T2000): FP16 runs on cores of
/// its own there, overflows in PyTorch (pytorch #58123, #77955), and with the libraries' tensor-core code is slower
/// than FP32 (lc0 #849). These are the names of the others.
constexpr std::array<std::string_view, 5> kTuringWithTensorCores{"RTX", "T4", "T4G", "T10", "T40"};

/// TF32 on tensor cores is less than twice as fast as FP32, and FP16 twice or more: NVIDIA's papers on GA102 and AD102
/// (GeForce: TF32 as FP32) and its data sheets (L40: 90.5 TFLOPS in both; H20: 74 and 44). L20 has the chip of L40.
constexpr std::array<std::string_view, 4> kSlowTf32{"GeForce", "L40", "L20", "H20"};

bool names_one_of(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return name.find(part) != std::string_view::npos; });
}

/// A word of the name, as "T4" of "Tesla T4", but not of "T400".
bool has_word(std::string_view name, std::string_view word) {
  const auto is_part = [](char one) { return std::isalnum(static_cast<unsigned char>(one)) != 0; };
  for (auto at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_part(name[at - 1])) && (end == name.size() || !is_part(name[end]))) return true;
  }
  return false;
}

template <typename Words>
bool has_any_word(std::string_view name, const Words& words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return has_word(name, word); });
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

auto device_of(const Trace& trace, std::int32_t device) {
  return std::find_if(trace.devices.begin(), trace.devices.end(), [&](const auto& one) { return one.id == device; });
}

}  // namespace

FasterFormat faster_format(const Trace& trace, std::int32_t device) {
  const auto found = device_of(trace, device);
  if (found == trace.devices.end() || is_of_amd(trace, *found)) return FasterFormat::none;
  const auto number = number_of(found->compute_capability);
  const auto known = std::find_if(kCapabilities.begin(), kCapabilities.end(),
                                  [&](const auto& capability) { return number >= capability.from; });
  if (known == kCapabilities.end()) return FasterFormat::none;
  if (number == kTuring && !has_any_word(found->name, kTuringWithTensorCores)) return FasterFormat::none;
  const bool slow_tf32 = known->format == FasterFormat::tf32 && has_any_word(found->name, kSlowTf32);
  return slow_tf32 ? FasterFormat::half : known->format;
}

bool has_fast_tf32(const Trace& trace, std::int32_t device) {
  const auto found = device_of(trace, device);
  return found != trace.devices.end() &&
         std::find(kFastTf32.begin(), kFastTf32.end(), number_of(found->compute_capability)) != kFastTf32.end();
}

}  // namespace ridgeline::trace
