// SPDX-License-Identifier: Apache-2.0
#include "fake_range_profiler.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "fake_cupti.h"

namespace fake_ranges {
namespace {

struct Range {
  std::size_t name_length = 0;
  std::uint32_t stream = 0;
};

std::mutex mutex;
bool running = false;
bool captures = false;
bool disturbed = false;  // by waiting for the GPU while a stream was captured
std::size_t room = 0;
std::size_t dropped = 0;
std::vector<Range> ranges;
bool as_called = false;  // ranges begin and end with calls
bool in_range = false;
bool graph_failed = false;  // a graph was launched where each kernel is a range

bool fails(const char* how) {
  const char* chosen = std::getenv("FAKE_CUPTI_COUNTERS");
  return chosen != nullptr && std::strcmp(chosen, how) == 0;
}

struct Host {
  std::vector<std::string> metrics;
  bool is_used = false;  // takes no more metrics
};
Host* host_of(void* object) { return static_cast<Host*>(object); }
bool knows(const std::string& metric) {
  if (fails("other_names") && metric.starts_with("dram__bytes_")) return metric.starts_with("dram__bytes_op_");
  return metric == "dram__bytes_read.sum" || metric == "dram__bytes_write.sum" || metric == "lts__t_bytes.sum" ||
         metric == "gpu__time_duration.sum" ||
         metric == "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
}

double value(const std::string& metric, std::size_t i) {
  if (metric.find("read") != std::string::npos) return 100.0 * static_cast<double>(ranges[i].name_length);
  if (metric.find("write") != std::string::npos) return ranges[i].stream;
  if (metric.starts_with("lts")) return 1'000.0 + static_cast<double>(i);
  return metric.starts_with("gpu") ? 2'500 : 12.5;
}

/// The image has them in the other order; their names say in which they ran.
std::size_t in_order(std::size_t index) { return ranges.size() - 1 - index; }

}  // namespace

bool counts() {
  const std::lock_guard lock(mutex);
  return running;
}

void launched(const char* mangled, std::uint32_t stream) {
  const std::lock_guard lock(mutex);
  if (!running) return;
  if (captures || records()) std::abort();  // a real one would not bear it either
  if (as_called) {
    if (in_range) ranges.back() = {mangled != nullptr ? std::strlen(mangled) : 1, stream};
    return;
  }
  graph_failed = graph_failed || mangled == nullptr;
  if (ranges.size() < room)
    ranges.push_back({mangled != nullptr ? std::strlen(mangled) : 1, stream});
  else
    ++dropped;
}

Call::Call(CUpti_CallbackId id, const char* mangled, const void* parameters) : id_(id) {
  data_.functionParams = parameters;
  data_.symbolName = mangled;
  data_.context = reinterpret_cast<CUcontext>(std::uintptr_t{1});
  data_.contextUid = 1;
  data_.correlationData = &shared_;
}
void Call::enter() {
  data_.callbackSite = CUPTI_API_ENTER;
  call_back(id_, data_);
}
void Call::leave(CUresult result) {
  data_.callbackSite = CUPTI_API_EXIT;
  data_.functionReturnValue = &result;
  call_back(id_, data_);
}

extern "C" {

// The driver.
CUresult CUDAAPI cuCtxGetCurrent(CUcontext* context) {
  *context =
      std::getenv("FAKE_CUDA_WITHOUT_CONTEXT") != nullptr ? nullptr : reinterpret_cast<CUcontext>(std::uintptr_t{1});
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxPushCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult CUDAAPI cuCtxPopCurrent(CUcontext*) { return CUDA_SUCCESS; }
CUresult CUDAAPI cuCtxSynchronize() {
  finish();
  const std::lock_guard lock(mutex);
  disturbed = disturbed || captures;
  return CUDA_SUCCESS;
}

int fake_cupti_capture_stream(int begins) {
  Call call(begins != 0 ? CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2 : CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
            nullptr, nullptr);
  call.enter();
  {
    const std::lock_guard lock(mutex);
    captures = begins != 0;
    disturbed = disturbed || (captures && running);
  }
  call.leave(CUDA_SUCCESS);
  return disturbed ? 0 : 1;
}

CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext, uint32_t* device) {
  *device = 0;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext, CUstream stream, uint8_t, uint32_t* id) {
  *id = static_cast<uint32_t>(reinterpret_cast<std::uintptr_t>(stream));
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* p) {
  p->pChipName = "GH100";
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) { return CUPTI_SUCCESS; }
CUptiResult CUPTIAPI cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* p) {
  if (fails("no_privilege")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  p->counterAvailabilityImageSize = 16;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* p) {
  if (p->structSize != CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE || std::strcmp(p->pChipName, "GH100") != 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new Host);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* p) {
  delete host_of(p->pHostObject);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params* p) {
  return knows(p->pMetricName) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_METRIC_NAME;
}
CUptiResult CUPTIAPI cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
  auto* host = host_of(p->pHostObject);
  if (host->is_used) return CUPTI_ERROR_UNKNOWN;
  host->is_used = true;
  for (std::size_t i = 0; i < p->numMetrics; ++i) {
    if (!knows(p->ppMetricNames[i])) return CUPTI_ERROR_INVALID_PARAMETER;
    host->metrics.emplace_back(p->ppMetricNames[i]);
  }
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
  p->configImageSize = 8;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* p) {
  p->pConfigImage[0] = static_cast<std::uint8_t>(host_of(p->pHostObject)->metrics.size());
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
  const std::size_t most = fails("one_counter_less") ? 4 : fails("many_passes") ? 0 : 5;
  p->numOfPasses = p->pConfigImage[0] > most ? 2 : 1;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
  for (std::size_t i = 0; i < p->numMetrics; ++i)
    p->pMetricValues[i] = value(p->ppMetricNames[i], in_order(p->rangeIndex));
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* p) {
  if (fails("unsupported")) return CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED;
  p->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&ranges);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) {
  const std::lock_guard lock(mutex);
  running = false;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* p) {
  p->counterDataSize = 8 * p->maxNumOfRanges;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI
cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* p) {
  const std::lock_guard lock(mutex);
  if ((p->range != CUPTI_AutoRange && p->range != CUPTI_UserRange) || p->replayMode != CUPTI_UserReplay ||
      p->numNestingLevels != 1 || p->minNestingLevel != 1 || p->counterDataImageSize != 8 * p->maxRangesPerPass)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (fails("no_memory") || (fails("little_memory") && p->maxRangesPerPass > 2'000)) return CUPTI_ERROR_OUT_OF_MEMORY;
  room = p->maxRangesPerPass;
  as_called = p->range == CUPTI_UserRange;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
  if (fails("busy")) return CUPTI_ERROR_HARDWARE_BUSY;
  if (records()) return CUPTI_ERROR_INVALID_OPERATION;
  const std::lock_guard lock(mutex);
  running = true;
  ranges.clear();
  dropped = 0;
  graph_failed = in_range = false;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* p) {
  if (fails("other_thread")) std::thread([] { fake_cupti_launch("_Z4gemmPfi", 7, 1); }).join();
  const std::lock_guard lock(mutex);
  running = false;
  if (graph_failed) return CUPTI_ERROR_UNKNOWN;  // as CUPTI 13.0 does
  p->isAllPassSubmitted = 1;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* p) {
  const std::lock_guard lock(mutex);
  if (!as_called || !running || in_range || std::to_string(ranges.size()) != p->pRangeName)
    return CUPTI_ERROR_INVALID_OPERATION;
  in_range = true;
  ranges.emplace_back();
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params*) {
  const std::lock_guard lock(mutex);
  if (!in_range) return CUPTI_ERROR_INVALID_OPERATION;
  in_range = false;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* p) {
  if (fails("missing_range") && !ranges.empty()) ranges.pop_back();
  p->numOfRangeDropped = fails("dropped_range") ? 1 : dropped;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* p) {
  p->numTotalRanges = ranges.size();
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiRangeProfilerCounterDataGetRangeInfo(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params* p) {
  static std::string name;
  name = std::to_string(in_order(p->rangeIndex));
  p->rangeName = name.c_str();
  return CUPTI_SUCCESS;
}
}

}  // namespace fake_ranges
