// SPDX-License-Identifier: Apache-2.0
#include "host_metrics.hpp"

#include <array>
#include <utility>

namespace ridgeline::inject::RL_CUPTI {
namespace {

/// Chips name what they have differently; the first that a chip knows is counted.
struct Metric {
  double CounterValues::*field;
  std::array<const char*, 2> names;
};
constexpr std::array kMetrics{
    Metric{&CounterValues::dram_read_bytes, {"dram__bytes_read.sum", "dram__bytes_op_read.sum"}},
    Metric{&CounterValues::dram_write_bytes, {"dram__bytes_write.sum", "dram__bytes_op_write.sum"}},
    Metric{&CounterValues::l2_bytes, {"lts__t_bytes.sum", nullptr}},
    Metric{&CounterValues::duration_ns, {"gpu__time_duration.sum", nullptr}},
    Metric{&CounterValues::tensor_percent,
           {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
            "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"}},
};

}  // namespace

CuptiFailure HostMetrics::begin(const std::string& chip, std::span<const std::uint8_t> availability) {
  end();
  CUpti_Profiler_Host_Initialize_Params p{CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
  p.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  p.pChipName = chip.c_str();
  p.pCounterAvailabilityImage = availability.data();
  const auto result = f_.host_initialize(&p);
  if (result == CUPTI_SUCCESS) host_ = p.pHostObject;
  return {result, "load its counters (libnvperf_host.so)"};
}

void HostMetrics::end() {
  if (host_ == nullptr) return;
  CUpti_Profiler_Host_Deinitialize_Params p{
      CUPTI_PROFILER_STRUCT_SIZE(CUpti_Profiler_Host_Deinitialize_Params, pHostObject)};
  p.pHostObject = std::exchange(host_, nullptr);
  (void)f_.host_deinitialize(&p);
}

CuptiFailure HostMetrics::choose(const std::string& chip, std::span<const std::uint8_t> availability) {
  if (const auto failure = begin(chip, availability)) return failure;
  names_.clear();
  fields_.clear();
  for (const auto& metric : kMetrics)
    for (const auto* name : metric.names) {
      if (name == nullptr) continue;
      CUpti_Profiler_Host_GetMetricProperties_Params p{CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE};
      p.pHostObject = host_;
      p.pMetricName = name;
      if (f_.host_properties(&p) != CUPTI_SUCCESS) continue;
      names_.push_back(name);
      fields_.push_back(metric.field);
      break;
    }
  CuptiFailure failure{CUPTI_ERROR_NOT_SUPPORTED, "count bytes on this GPU in one pass"};
  for (; !names_.empty(); names_.pop_back(), fields_.pop_back()) {
    // A configuration that was read, or refused, takes no more metrics.
    if (const auto begun = begin(chip, availability)) return begun;
    std::size_t passes = 0;
    const auto configured = configure(passes);
    if (!configured && passes == 1) return {};
    if (configured) failure = configured;
  }
  return failure;
}

CuptiFailure HostMetrics::configure(std::size_t& passes) {
  {
    CUpti_Profiler_Host_ConfigAddMetrics_Params p{CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
    p.pHostObject = host_;
    p.ppMetricNames = names_.data();
    p.numMetrics = names_.size();
    if (const auto result = f_.host_add_metrics(&p); result != CUPTI_SUCCESS) return {result, "choose counters"};
  }
  {
    CUpti_Profiler_Host_GetConfigImageSize_Params p{CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE};
    p.pHostObject = host_;
    if (const auto result = f_.host_image_size(&p); result != CUPTI_SUCCESS) return {result, "configure counters"};
    config_.assign(p.configImageSize, 0);
  }
  {
    CUpti_Profiler_Host_GetConfigImage_Params p{CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE};
    p.pHostObject = host_;
    p.configImageSize = config_.size();
    p.pConfigImage = config_.data();
    if (const auto result = f_.host_image(&p); result != CUPTI_SUCCESS) return {result, "configure counters"};
  }
  CUpti_Profiler_Host_GetNumOfPasses_Params p{CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE};
  p.configImageSize = config_.size();
  p.pConfigImage = config_.data();
  const auto result = f_.host_passes(&p);
  passes = p.numOfPasses;
  return {result, "configure counters"};
}

CuptiFailure HostMetrics::evaluate(std::span<const std::uint8_t> image, std::size_t range, CounterValues& out) {
  std::array<double, kMetrics.size()> values{};
  CUpti_Profiler_Host_EvaluateToGpuValues_Params p{CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE};
  p.pHostObject = host_;
  p.pCounterDataImage = image.data();
  p.counterDataImageSize = image.size();
  p.rangeIndex = range;
  p.ppMetricNames = names_.data();
  p.numMetrics = names_.size();
  p.pMetricValues = values.data();
  const auto result = f_.host_evaluate(&p);
  if (result != CUPTI_SUCCESS) return {result, "read what was counted"};
  out = {};
  for (std::size_t i = 0; i < fields_.size(); ++i)
    if (values[i] >= 0) out.*fields_[i] = values[i];  // not NaN
  return {};
}

}  // namespace ridgeline::inject::RL_CUPTI
