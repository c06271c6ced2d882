// SPDX-License-Identifier: Apache-2.0
#include "host/float_mode.hpp"

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ridgeline::host {

#if defined(__x86_64__)

namespace {

constexpr unsigned kDenormalMet = 1U << 1;
constexpr unsigned kUnderflowMet = 1U << 4;
constexpr unsigned kOperandsAreZero = 1U << 6;
constexpr unsigned kResultsAreZero = 1U << 15;

}  // namespace

void set_float_mode(bool denormals_are_zero) noexcept {
  constexpr unsigned kMode = kOperandsAreZero | kResultsAreZero;
  const unsigned now = _mm_getcsr();
  const unsigned wanted = (now & ~(kMode | kDenormalMet | kUnderflowMet)) | (denormals_are_zero ? kMode : 0U);
  if (now != wanted) _mm_setcsr(wanted);  // which takes longer than reading
}

bool has_met_denormals() noexcept { return (_mm_getcsr() & (kDenormalMet | kUnderflowMet)) != 0; }

#elif defined(__aarch64__)

namespace {

constexpr std::uint64_t kAreZero = 1U << 24;
constexpr std::uint64_t kUnderflowMet = 1U << 3;

}  // namespace

void set_float_mode(bool denormals_are_zero) noexcept {
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" ::"r"(denormals_are_zero ? control | kAreZero : control & ~kAreZero));
  asm volatile("msr fpsr, %0" ::"r"(std::uint64_t{0}));
}

bool has_met_denormals() noexcept {
  std::uint64_t status = 0;
  asm volatile("mrs %0, fpsr" : "=r"(status));
  return (status & kUnderflowMet) != 0;
}

#else

void set_float_mode(bool) noexcept {}
bool has_met_denormals() noexcept { return false; }

#endif

}  // namespace ridgeline::host
