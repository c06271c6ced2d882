// SPDX-License-Identifier: Apache-2.0
#include "context_profiler.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ridgeline::inject::RL_CUPTI {
namespace {

constexpr std::size_t kFewestRanges = 500;
constexpr std::size_t kMostImageBytes = std::size_t{1} << 30U;

/// CUPTI names a range by its number in the order in which they ran.
std::optional<std::uint64_t> number_of(const char* name) {
  if (name == nullptr || std::string_view(name).find_first_not_of("0123456789") != std::string_view::npos ||
      *name == '\0')
    return std::nullopt;
  return std::strtoull(name, nullptr, 10);
}

}  // namespace

CuptiFailure ContextProfiler::enable(CUcontext context) {
  CUpti_RangeProfiler_Enable_Params p{CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE};
  p.ctx = context;
  const auto result = f_.enable(&p);
  if (result == CUPTI_SUCCESS) object_ = p.pRangeProfilerObject;
  return {result, "count on this GPU"};
}

void ContextProfiler::disable() {
  if (object_ == nullptr) return;
  CUpti_RangeProfiler_Disable_Params p{CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE};
  p.pRangeProfilerObject = std::exchange(object_, nullptr);
  (void)f_.disable(&p);
}

CuptiFailure ContextProfiler::start(CUcontext context, std::size_t most_ranges) {
  CuptiFailure failure;
  for (most_ = most_ranges; most_ >= kFewestRanges; most_ /= 4) {
    failure = enable(context);
    if (!failure) failure = make_image();
    if (!failure) failure = configure_and_start();
    if (!failure) return {};
    disable();
    // Memory that is short has more than one name.
    if (state_of(failure.result) != CounterState::failed) break;
  }
  return failure;
}

CuptiFailure ContextProfiler::make_image() {
  const auto names = metrics_.names();
  CUpti_RangeProfiler_GetCounterDataSize_Params size{CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE};
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = most_;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(most_);
  if (const auto result = f_.data_size(&size); result != CUPTI_SUCCESS) return {result, "make room for counters"};
  if (size.counterDataSize > kMostImageBytes) return {CUPTI_ERROR_OUT_OF_MEMORY, "make room for counters"};
  image_bytes_ = size.counterDataSize;
  image_.reset(static_cast<std::uint8_t*>(std::calloc(image_bytes_, 1)));  // pages that are not used take no memory
  if (!image_) return {CUPTI_ERROR_OUT_OF_MEMORY, "make room for counters"};
  CUpti_RangeProfiler_CounterDataImage_Initialize_Params p{
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE};
  p.pRangeProfilerObject = object_;
  p.counterDataSize = image_bytes_;
  p.pCounterData = image_.get();
  return {f_.data_initialize(&p), "make room for counters"};
}

CuptiFailure ContextProfiler::configure_and_start() {
  CUpti_RangeProfiler_SetConfig_Params config{CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE};
  config.pRangeProfilerObject = object_;
  config.configSize = metrics_.config().size();
  config.pConfig = metrics_.config().data();
  config.counterDataImageSize = image_bytes_;
  config.pCounterDataImage = image_.get();
  config.range = as_called() ? CUPTI_UserRange : CUPTI_AutoRange;
  config.replayMode = CUPTI_UserReplay;  // nothing is replayed, as one pass is enough
  config.maxRangesPerPass = most_;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 1;
  if (const auto result = f_.set_config(&config); result != CUPTI_SUCCESS) return {result, "configure counting"};
  CUpti_RangeProfiler_Start_Params p{CUpti_RangeProfiler_Start_Params_STRUCT_SIZE};
  p.pRangeProfilerObject = object_;
  return {f_.start(&p), "start counting"};
}

bool ContextProfiler::begin_range(std::size_t number) {
  const auto name = std::to_string(number);
  CUpti_RangeProfiler_PushRange_Params p{CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE};
  p.pRangeProfilerObject = object_;
  p.pRangeName = name.c_str();
  return f_.push_range(&p) == CUPTI_SUCCESS;
}

bool ContextProfiler::end_range() {
  CUpti_RangeProfiler_PopRange_Params p{CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE};
  p.pRangeProfilerObject = object_;
  return f_.pop_range(&p) == CUPTI_SUCCESS;
}

CuptiFailure ContextProfiler::stop() {
  if (object_ == nullptr) return {CUPTI_ERROR_NOT_INITIALIZED, "stop counting"};
  CUpti_RangeProfiler_Stop_Params p{CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE};
  p.pRangeProfilerObject = object_;
  CuptiFailure failure{f_.stop(&p), "stop counting"};
  if (!failure && p.isAllPassSubmitted == 0) failure = {CUPTI_ERROR_NOT_READY, "count in one pass"};
  if (!failure) failure = decode();
  disable();
  image_.reset();
  return failure;
}

CuptiFailure ContextProfiler::decode() {
  CUpti_RangeProfiler_DecodeData_Params decoded{CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE};
  decoded.pRangeProfilerObject = object_;
  if (const auto result = f_.decode(&decoded); result != CUPTI_SUCCESS) return {result, "read what was counted"};
  dropped_ = decoded.numOfRangeDropped;
  CUpti_RangeProfiler_GetCounterDataInfo_Params info{CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE};
  info.pCounterDataImage = image_.get();
  info.counterDataImageSize = image_bytes_;
  if (const auto result = f_.data_info(&info); result != CUPTI_SUCCESS) return {result, "read what was counted"};
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < info.numTotalRanges; ++i) {
    CUpti_RangeProfiler_CounterData_GetRangeInfo_Params range{
        CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE};
    range.pCounterDataImage = image_.get();
    range.counterDataImageSize = image_bytes_;
    range.rangeIndex = i;
    range.rangeDelimiter = "/";
    if (const auto result = f_.range_info(&range); result != CUPTI_SUCCESS) return {result, "read what was counted"};
    order.emplace_back(number_of(range.rangeName).value_or(i), i);
  }
  std::sort(order.begin(), order.end());
  values_.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    if (const auto failure = metrics_.evaluate(image(), order[i].second, values_[i])) return failure;
  return {};
}

}  // namespace ridgeline::inject::RL_CUPTI
