// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/gpu_arena.hpp"

#include <string_view>

#include "base/text.hpp"
#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

base::Result<ArenaUse> read_arena(const OrtApi& api, const OrtSession* session) {
  OrtMemoryInfo* created_info = nullptr;
  RL_TRY(check_ort(api, api.CreateMemoryInfo("Cuda", OrtDeviceAllocator, 0, OrtMemTypeDefault, &created_info)));
  const OrtHandle<OrtMemoryInfo> info(created_info, api.ReleaseMemoryInfo);
  OrtAllocator* created = nullptr;
  RL_TRY(check_ort(api, api.CreateAllocator(session, created_info, &created)));
  const OrtHandle<OrtAllocator> allocator(created, api.ReleaseAllocator);
  OrtKeyValuePairs* created_stats = nullptr;
  RL_TRY(check_ort(api, api.AllocatorGetStats(created, &created_stats)));
  const OrtHandle<OrtKeyValuePairs> stats(created_stats, api.ReleaseKeyValuePairs);
  const auto number = [&](const char* key) {
    const char* text = created_stats != nullptr ? api.GetKeyValue(created_stats, key) : nullptr;
    return text != nullptr ? base::parse_integer(text, key).value_or(0) : 0;
  };
  return ArenaUse{number("InUse"), number("MaxInUse")};
}

}  // namespace

ArenaUse gpu_arena_use(const OrtLibrary& library, const OrtSession* session) {
  constexpr int kFirstApi = 23;
  if (library.api_version() < kFirstApi) return {};
  return read_arena(library.api(), session).value_or(ArenaUse{});
}

}  // namespace ridgeline::workload
