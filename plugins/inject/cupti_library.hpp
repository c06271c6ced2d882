// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

namespace ridgeline::inject::RL_CUPTI {

/// The release whose headers this is compiled with.
inline constexpr int kCudaMajor = CUDART_VERSION / 1'000;

/// CUPTI's functions that are used. Those that old releases lack may be nullptr.
struct CuptiFunctions {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetResultString) get_result_string = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) get_next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) get_dropped = nullptr;
  decltype(&cuptiGetCallbackName) get_callback_name = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiGetGraphNodeId) get_graph_node_id = nullptr;
  decltype(&cuptiActivityFlushPeriod) flush_period = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) register_timestamp = nullptr;
  decltype(&cuptiSetThreadIdType) set_thread_id_type = nullptr;
  decltype(&cuptiActivityEnableRuntimeApi) enable_runtime_api = nullptr;
  decltype(&cuptiActivityEnableDriverApi) enable_driver_api = nullptr;
};

/// Those that count, which CUPTI has since 12.6.
struct RangeProfilerFunctions {
  decltype(&cuptiProfilerInitialize) initialize = nullptr;
  decltype(&cuptiProfilerGetCounterAvailability) get_availability = nullptr;
  decltype(&cuptiDeviceGetChipName) get_chip_name = nullptr;
  decltype(&cuptiGetDeviceId) get_device_id = nullptr;
  decltype(&cuptiGetStreamIdEx) get_stream_id = nullptr;
  decltype(&cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&cuptiProfilerHostGetMetricProperties) host_properties = nullptr;
  decltype(&cuptiProfilerHostConfigAddMetrics) host_add_metrics = nullptr;
  decltype(&cuptiProfilerHostGetConfigImageSize) host_image_size = nullptr;
  decltype(&cuptiProfilerHostGetConfigImage) host_image = nullptr;
  decltype(&cuptiProfilerHostGetNumOfPasses) host_passes = nullptr;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) host_evaluate = nullptr;
  decltype(&cuptiRangeProfilerEnable) enable = nullptr;
  decltype(&cuptiRangeProfilerDisable) disable = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataSize) data_size = nullptr;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) data_initialize = nullptr;
  decltype(&cuptiRangeProfilerSetConfig) set_config = nullptr;
  decltype(&cuptiRangeProfilerStart) start = nullptr;
  decltype(&cuptiRangeProfilerStop) stop = nullptr;
  decltype(&cuptiRangeProfilerPushRange) push_range = nullptr;
  decltype(&cuptiRangeProfilerPopRange) pop_range = nullptr;
  decltype(&cuptiRangeProfilerDecodeData) decode = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataInfo) data_info = nullptr;
  decltype(&cuptiRangeProfilerCounterDataGetRangeInfo) range_info = nullptr;
};

/// The CUPTI of this process's CUDA, opened at run time.
class CuptiLibrary {
 public:
  /// The one that the process has mapped; else the one that lies with its CUDA runtime, with pip's packages, with the
  /// toolkit. Whether there is one; why() says why not.
  [[nodiscard]] bool open();
  [[nodiscard]] const CuptiFunctions& functions() const noexcept { return functions_; }
  /// nullptr: it is too old, or a library that it needs is not with it; look_up_range_profiler() was not called.
  [[nodiscard]] const RangeProfilerFunctions* range_profiler() const noexcept { return counts_ ? &ranges_ : nullptr; }
  void look_up_range_profiler();
  [[nodiscard]] std::uint32_t version() const noexcept { return version_; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }

 private:
  [[nodiscard]] bool take(void* library);

  void* library_ = nullptr;
  CuptiFunctions functions_;
  RangeProfilerFunctions ranges_;
  bool counts_ = false;
  std::uint32_t version_ = 0;
  std::string why_;
};

}  // namespace ridgeline::inject::RL_CUPTI
