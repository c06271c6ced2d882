// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>
#include <cupti.h>

/// The part of the pretended CUPTI that counts: each launch is a range, whose values follow from the launch. What fails
/// is named by FAKE_CUPTI_COUNTERS.
namespace fake_ranges {

/// Whether CUPTI records activities, which it does not while it counts.
bool records();
/// The GPU has done what was launched.
void finish();
[[nodiscard]] bool counts();
/// A launch ran.
void launched(const char* mangled, std::uint32_t stream);

/// The call to launch, as CUPTI's subscriber sees it.
class Call {
 public:
  /// `mangled`: nullptr for a CUDA graph.
  Call(CUpti_CallbackId id, const char* mangled, const void* parameters);
  void enter();
  void leave(CUresult result);

 private:
  CUpti_CallbackId id_;
  CUpti_CallbackData data_{};
  std::uint64_t shared_ = 0;
};
/// Calls the subscriber, if it wants these.
void call_back(CUpti_CallbackId id, const CUpti_CallbackData& data);

}  // namespace fake_ranges
