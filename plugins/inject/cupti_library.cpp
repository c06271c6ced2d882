// SPDX-License-Identifier: Apache-2.0
#include "cupti_library.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "host/cupti_places.hpp"
#include "loaded_cuda.hpp"

namespace ridgeline::inject::RL_CUPTI {
namespace {

/// CUPTI's own numbers: 18 to 28 were of CUDA 12; from 13 on they are 130000 and more.
int major_of(std::uint32_t cupti_version) {
  if (cupti_version >= 100'000) return static_cast<int>(cupti_version / 10'000);
  return cupti_version >= 18 ? 12 : 11;
}

template <typename Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

bool CuptiLibrary::open() {
  for (const auto& place : host::cupti_places(loaded_libraries(), kCudaMajor))
    if (void* library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) return take(library);
  why_ = "libcupti.so." + std::to_string(kCudaMajor) + " was not found; install it with pip install " +
         (kCudaMajor == 12 ? "nvidia-cuda-cupti-cu12" : "nvidia-cuda-cupti");
  return false;
}

bool CuptiLibrary::take(void* library) {
  library_ = library;
  auto& f = functions_;
  const bool all = look_up(library, "cuptiGetVersion", f.get_version) &&
                   look_up(library, "cuptiGetResultString", f.get_result_string) &&
                   look_up(library, "cuptiActivityRegisterCallbacks", f.register_callbacks) &&
                   look_up(library, "cuptiActivityEnable", f.enable) &&
                   look_up(library, "cuptiActivityDisable", f.disable) &&
                   look_up(library, "cuptiActivityFlushAll", f.flush_all) &&
                   look_up(library, "cuptiActivityGetNextRecord", f.get_next_record) &&
                   look_up(library, "cuptiActivityGetNumDroppedRecords", f.get_dropped) &&
                   look_up(library, "cuptiGetCallbackName", f.get_callback_name);
  look_up(library, "cuptiSubscribe", f.subscribe);
  look_up(library, "cuptiUnsubscribe", f.unsubscribe);
  look_up(library, "cuptiEnableCallback", f.enable_callback);
  look_up(library, "cuptiGetGraphNodeId", f.get_graph_node_id);
  look_up(library, "cuptiActivityFlushPeriod", f.flush_period);
  look_up(library, "cuptiActivityRegisterTimestampCallback", f.register_timestamp);
  look_up(library, "cuptiSetThreadIdType", f.set_thread_id_type);
  look_up(library, "cuptiActivityEnableRuntimeApi", f.enable_runtime_api);
  look_up(library, "cuptiActivityEnableDriverApi", f.enable_driver_api);
  if (!all || f.get_version(&version_) != CUPTI_SUCCESS) {
    why_ = "the libcupti that the process has is too old";
    return false;
  }
  // Records grow within a release; a library writes those of its own.
  if (major_of(version_) != kCudaMajor) {
    why_ = "the process has CUPTI " + std::to_string(version_) + "; expected one of CUDA " + std::to_string(kCudaMajor);
    return false;
  }
  return true;
}

void CuptiLibrary::look_up_range_profiler() {
  if (library_ == nullptr) return;
  // CUPTI opens it by its bare name, which finds it only if it is loaded already: CUPTI's folder is on no search path.
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(functions_.get_version), &info) != 0 && info.dli_fname != nullptr)
    (void)::dlopen((std::filesystem::path(info.dli_fname).parent_path() / "libnvperf_host.so").c_str(),
                   RTLD_NOW | RTLD_LOCAL);
  auto& f = ranges_;
  counts_ = look_up(library_, "cuptiProfilerInitialize", f.initialize) &&
            look_up(library_, "cuptiProfilerGetCounterAvailability", f.get_availability) &&
            look_up(library_, "cuptiDeviceGetChipName", f.get_chip_name) &&
            look_up(library_, "cuptiGetDeviceId", f.get_device_id) &&
            look_up(library_, "cuptiGetStreamIdEx", f.get_stream_id) &&
            look_up(library_, "cuptiProfilerHostInitialize", f.host_initialize) &&
            look_up(library_, "cuptiProfilerHostDeinitialize", f.host_deinitialize) &&
            look_up(library_, "cuptiProfilerHostGetMetricProperties", f.host_properties) &&
            look_up(library_, "cuptiProfilerHostConfigAddMetrics", f.host_add_metrics) &&
            look_up(library_, "cuptiProfilerHostGetConfigImageSize", f.host_image_size) &&
            look_up(library_, "cuptiProfilerHostGetConfigImage", f.host_image) &&
            look_up(library_, "cuptiProfilerHostGetNumOfPasses", f.host_passes) &&
            look_up(library_, "cuptiProfilerHostEvaluateToGpuValues", f.host_evaluate) &&
            look_up(library_, "cuptiRangeProfilerEnable", f.enable) &&
            look_up(library_, "cuptiRangeProfilerDisable", f.disable) &&
            look_up(library_, "cuptiRangeProfilerGetCounterDataSize", f.data_size) &&
            look_up(library_, "cuptiRangeProfilerCounterDataImageInitialize", f.data_initialize) &&
            look_up(library_, "cuptiRangeProfilerSetConfig", f.set_config) &&
            look_up(library_, "cuptiRangeProfilerStart", f.start) &&
            look_up(library_, "cuptiRangeProfilerStop", f.stop) &&
            look_up(library_, "cuptiRangeProfilerPushRange", f.push_range) &&
            look_up(library_, "cuptiRangeProfilerPopRange", f.pop_range) &&
            look_up(library_, "cuptiRangeProfilerDecodeData", f.decode) &&
            look_up(library_, "cuptiRangeProfilerGetCounterDataInfo", f.data_info) &&
            look_up(library_, "cuptiRangeProfilerCounterDataGetRangeInfo", f.range_info);
}

}  // namespace ridgeline::inject::RL_CUPTI
