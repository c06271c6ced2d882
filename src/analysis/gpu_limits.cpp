// SPDX-License-Identifier: Apache-2.0
#include "analysis/gpu_limits.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analysis/model_rate.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::analysis {
namespace {

using schema::Configuration;
using schema::GpuCeilings;
using schema::TensorDescription;

/// A resource whose floor alone is this share of the time is the limit, whatever else there is.
constexpr double kDriverAverageS = 1;  // nvmlDeviceGetUtilizationRates: between 1/6 s and 1 s
constexpr double kSaturated = 0.7;
/// A card without kernels for this share of the time waits for the host more than anything else.
constexpr double kIdle = 0.4;
/// Copies that explain this share of the waiting are its cause.
constexpr double kCopyShareOfIdle = 0.4;
/// Launches of this share and more than all else are the likely cause where nobody saw whether the card was idle: that
/// is what they cost a fast CPU.
constexpr double kLikelyLaunches = 0.15;
/// Kernels of about this length or less spend it on starting, filling and draining the card (a launch itself costs 2 to
/// 5 us).
constexpr double kShortNodeNs = 10e3;
/// Without a probe: pageable copies are staged by the driver at a half (PCIe 3) to a fifth (PCIe 5) of the pinned rate.
constexpr double kPageableShare = 1.0 / 3;
/// Without ceilings: bytes a ns that copies would need to fill the idle time; no link of the last decade is slower.
constexpr double kLeastCopyRate = 3;
/// Without ceilings, FLOP a byte: data-centre cards since 2017 turn from memory to compute between about 15 (FP32
/// without tensor cores) and 300 (FP16 with them).
constexpr double kMemoryIntensity = 15;
constexpr double kComputeIntensity = 100;

std::optional<double> element_bytes(std::string_view type) {
  static const std::map<std::string_view, double> kSizes{
      {"float", 4},  {"double", 8}, {"float16", 2}, {"bfloat16", 2}, {"int64", 8}, {"uint64", 8}, {"int32", 4},
      {"uint32", 4}, {"int16", 2},  {"uint16", 2},  {"int8", 1},     {"uint8", 1}, {"bool", 1}};
  const auto at = kSizes.find(type);
  return at == kSizes.end() ? std::nullopt : std::optional(at->second);
}

/// Sizes of the model's symbolic dimensions in one member of the shape mix.
std::map<std::string, double> symbol_sizes(const schema::ModelDescription& model, const schema::ShapeSet& shapes) {
  std::map<std::string, double> sizes;
  for (const auto& shape : shapes)
    for (const auto& input : model.inputs) {
      if (input.name != shape.name) continue;
      for (std::size_t i = 0; i < std::min({shape.dims.size(), input.dims.size(), input.dim_names.size()}); ++i)
        if (input.dims[i] < 0 && !input.dim_names[i].empty())
          sizes.emplace(input.dim_names[i], static_cast<double>(shape.dims[i]));
    }
  return sizes;
}

std::optional<double> tensor_bytes(const TensorDescription& tensor, const std::map<std::string, double>& symbols) {
  auto bytes = element_bytes(tensor.element_type);
  if (!bytes) return std::nullopt;
  for (std::size_t i = 0; i < tensor.dims.size(); ++i) {
    if (tensor.dims[i] >= 0) {
      *bytes *= static_cast<double>(tensor.dims[i]);
      continue;
    }
    const auto at = symbols.find(i < tensor.dim_names.size() ? tensor.dim_names[i] : std::string());
    if (at == symbols.end()) return std::nullopt;
    *bytes *= at->second;
  }
  return bytes;
}

double shape_bytes(const schema::ModelDescription& model, const schema::InputShape& shape) {
  for (const auto& input : model.inputs) {
    if (input.name != shape.name) continue;
    auto bytes = element_bytes(input.element_type).value_or(0);
    for (const auto dim : shape.dims) bytes *= static_cast<double>(dim);
    return bytes;
  }
  return 0;
}

double batch_factor(const schema::ModelDescription& model, const Configuration& configuration) {
  if (!model.batch_axis_size || *model.batch_axis_size <= 0) return 1;
  const auto described = *model.batch_axis_size;
  return static_cast<double>(configuration.get_or("batch_size", described).as_integer(described)) /
         static_cast<double>(described);
}

bool is_half(const schema::TuneRun& run, const Configuration& configuration) {
  if (configuration.get_or("trt_fp16_enable", false).as_bool()) return true;
  std::int64_t half = 0;
  for (const auto* type : {"float16", "bfloat16"}) {
    const auto at = run.model.parameter_types.find(type);
    if (at != run.model.parameter_types.end()) half += at->second;
  }
  return 2 * half > run.model.parameters;
}

std::optional<double> busy_share(const schema::Measurement& measurement) {
  if (!measurement.gpu) return std::nullopt;
  const auto& telemetry = *measurement.gpu;
  if (telemetry.busy) return telemetry.busy;
  std::vector<double> shares;
  // The driver averages over up to a second, of which every part must have seen this workload, be it warming up.
  const double from_s =
      std::max(telemetry.timed_from_s, telemetry.timed_from_s - measurement.warmup_ns * 1e-9 + kDriverAverageS);
  for (const auto& sample : telemetry.samples)
    if (sample.utilization_percent && sample.at_s >= from_s && sample.at_s <= telemetry.timed_to_s)
      shares.push_back(*sample.utilization_percent / 100);
  if (shares.empty()) return std::nullopt;
  return stats::quantile(std::move(shares), 0.5);
}

/// `bytes` at `gb_per_s`, in ns: a GB/s is a byte a ns.
std::optional<double> at_rate(double bytes, std::optional<double> gb_per_s) {
  return gb_per_s && *gb_per_s > 0 ? std::optional(bytes / *gb_per_s) : std::nullopt;
}

void find_floors(GpuLimits& limits, const schema::TuneRun& run, const Configuration& configuration) {
  const auto ceilings = run.gpu_ceilings.value_or(GpuCeilings{});
  const bool tf32 = configuration.get_or("use_tf32", true).as_bool();
  const bool half = is_half(run, configuration);
  limits.compute_type = half ? "FP16" : tf32 ? "TF32" : "FP32";
  const auto tflops = half   ? ceilings.matmul_fp16_tflops
                      : tf32 ? ceilings.matmul_tf32_tflops
                             : ceilings.matmul_fp32_tflops;
  if (limits.work.flops > 0 && tflops && *tflops > 0) limits.compute_ns = limits.work.flops / (*tflops * 1e3);
  if (limits.work.memory_bytes > 0) limits.memory_ns = at_rate(limits.work.memory_bytes, ceilings.copy_gb_per_s);
  if (run.tensor_location == "device") {
    limits.copy_ns = 0;
  } else {
    auto h2d = ceilings.h2d_gb_per_s;
    auto d2h = ceilings.d2h_gb_per_s ? ceilings.d2h_gb_per_s : h2d;
    if (configuration.get_or("io_binding", "none").as_text() == "none") {
      limits.pageable_assumed = h2d && !ceilings.h2d_pageable_gb_per_s;
      h2d = ceilings.h2d_pageable_gb_per_s ? ceilings.h2d_pageable_gb_per_s
            : h2d                          ? std::optional(*h2d * kPageableShare)
                                           : h2d;
      d2h = ceilings.d2h_pageable_gb_per_s ? ceilings.d2h_pageable_gb_per_s
            : d2h                          ? std::optional(*d2h * kPageableShare)
                                           : d2h;
    }
    const auto in = at_rate(limits.work.input_bytes, h2d);
    const auto out = at_rate(limits.work.output_bytes, d2h);
    if (in && out) limits.copy_ns = *in + *out;
  }
  const bool graph = configuration.get_or("enable_cuda_graph", false).as_bool();
  const auto nodes = dispatched_nodes(run, configuration);
  if (!graph && !schema::provider_of(run.provider).compiles_graph && nodes > 0 && ceilings.launch_us)
    limits.launch_ns = static_cast<double>(nodes) * *ceilings.launch_us * 1e3;
}

GpuBound bound_of_waiting(const GpuLimits& limits) {
  const double idle_ns = (1 - *limits.busy) * limits.inference_ns;
  if (limits.copy_ns) return *limits.copy_ns >= kCopyShareOfIdle * idle_ns ? GpuBound::copy : GpuBound::launch;
  return (limits.work.input_bytes + limits.work.output_bytes) / idle_ns >= kLeastCopyRate ? GpuBound::copy
                                                                                          : GpuBound::launch;
}

GpuBound bound_of_kernels(const GpuLimits& limits, std::int64_t nodes) {
  const double compute = limits.compute_ns.value_or(0);
  const double memory = limits.memory_ns.value_or(0);
  const double launches = limits.busy ? 0 : limits.launch_ns.value_or(0);  // a busy card does not wait for them
  const bool both_known = limits.compute_ns && limits.memory_ns;
  const double explaining = kExplains * limits.inference_ns;
  const double kernels_ns = limits.inference_ns * limits.busy.value_or(1);
  const bool short_nodes = nodes > 0 && kernels_ns / static_cast<double>(nodes) < kShortNodeNs;
  if (std::max(compute, memory) < explaining) {
    if (short_nodes) return GpuBound::launch;
    if (both_known) {
      const bool likely = launches >= kLikelyLaunches * limits.inference_ns &&
                          launches >= std::max({compute, memory, limits.copy_ns.value_or(0)});
      return likely ? GpuBound::launch : GpuBound::unclear;
    }
  }
  if (both_known) {
    if (compute >= memory) return GpuBound::compute;
    if (limits.work.as_run) return GpuBound::memory;
    // Fusion may leave little of the traffic, so it is named only where nothing else comes into question.
    const bool another = compute >= explaining || short_nodes || launches >= memory;
    return another ? GpuBound::unclear : GpuBound::memory;
  }
  if (limits.work.flops <= 0 || limits.work.memory_bytes <= 0) return GpuBound::unclear;
  const double intensity = limits.work.flops / limits.work.memory_bytes;
  if (intensity > kMemoryIntensity && intensity < kComputeIntensity) return GpuBound::unclear;
  const bool arithmetic = intensity >= kComputeIntensity;
  const auto& floor_ns = arithmetic ? limits.compute_ns : limits.memory_ns;
  if (floor_ns && *floor_ns < explaining) return GpuBound::unclear;
  return arithmetic ? GpuBound::compute : GpuBound::memory;
}

bool waits_for_the_host(const GpuLimits& limits) { return limits.busy && 1 - *limits.busy >= kIdle; }

GpuBound classify(const GpuLimits& limits, const schema::TuneRun& run, const Configuration& configuration) {
  const auto share = [&](const std::optional<double>& floor_ns) { return floor_ns.value_or(0) / limits.inference_ns; };
  // What was counted over the file's nodes is no floor: fusion may leave little of it.
  const bool counted = limits.work.as_run;
  const auto largest = std::max({std::pair(share(limits.compute_ns), GpuBound::compute),
                                 std::pair(counted ? share(limits.memory_ns) : 0, GpuBound::memory),
                                 std::pair(share(limits.copy_ns), GpuBound::copy)});
  if (largest.first >= kSaturated) return largest.second;
  if (waits_for_the_host(limits)) return run.tensor_location == "device" ? GpuBound::launch : bound_of_waiting(limits);
  if (!limits.busy && largest.second == GpuBound::copy && largest.first >= kExplains) return GpuBound::copy;
  if (!limits.busy && counted && share(limits.launch_ns) >= kSaturated) return GpuBound::launch;
  return bound_of_kernels(limits, dispatched_nodes(run, configuration));
}

std::optional<double> floor_of(const GpuLimits& limits) {
  const bool counted = limits.work.as_run;
  switch (limits.bound) {
    case GpuBound::compute: return limits.compute_ns;
    case GpuBound::memory: return counted ? limits.memory_ns : std::nullopt;
    case GpuBound::copy: return limits.copy_ns;
    case GpuBound::launch:
      if (!limits.compute_ns || !limits.memory_ns) return std::nullopt;
      if (*limits.compute_ns >= *limits.memory_ns) return limits.compute_ns;
      return counted ? limits.memory_ns : std::nullopt;
    case GpuBound::unclear: break;
  }
  return std::nullopt;
}

bool are_kernels_slow(const GpuLimits& limits) {
  return limits.bound == GpuBound::unclear && limits.busy && limits.compute_ns && limits.memory_ns &&
         std::max(*limits.compute_ns, *limits.memory_ns) < kExplains * limits.inference_ns;
}

}  // namespace

InferenceWork work_of(const schema::TuneRun& run, const Configuration& configuration) {
  const auto& model = run.model;
  const double factor = batch_factor(model, configuration);
  const auto* graph = graph_of(run, configuration);
  const double moved = graph != nullptr ? graph->memory_bytes : model.min_bytes;
  const auto weights = std::min(static_cast<double>(model.parameter_bytes), moved);
  InferenceWork work;
  work.flops = model.flops * factor;
  work.memory_bytes = weights + (moved - weights) * factor;
  work.as_run = graph != nullptr;
  if (model.shapes.empty()) {
    work.outputs_known = false;
    return work;
  }
  const double weight = factor / static_cast<double>(model.shapes.size());
  for (const auto& set : model.shapes) {
    for (const auto& shape : set) work.input_bytes += weight * shape_bytes(model, shape);
    const auto symbols = symbol_sizes(model, set);
    for (const auto& output : model.outputs) {
      const auto bytes = tensor_bytes(output, symbols);
      work.outputs_known = work.outputs_known && bytes.has_value();
      work.output_bytes += weight * bytes.value_or(0);
    }
  }
  return work;
}

std::string_view bound_name(GpuBound bound) noexcept {
  switch (bound) {
    case GpuBound::launch: return "launch-bound";
    case GpuBound::copy: return "copy-bound";
    case GpuBound::memory: return "memory-bound";
    case GpuBound::compute: return "compute-bound";
    case GpuBound::unclear: break;
  }
  return "unclear";
}

std::optional<GpuLimits> gpu_limits(const schema::TuneRun& run, const RankedTrial& ranked,
                                    const schema::Measurement* isolated) {
  if (!run.on_gpu() || ranked.outcome == nullptr || !ranked.outcome->measurement) return std::nullopt;
  const auto& measurement = *ranked.outcome->measurement;
  const auto& configuration = ranked.trial->configuration;
  GpuLimits limits;
  limits.inference_ns = measurement.concurrency > 1 && !measurement.latency_ns.empty()
                            ? measurement.wall_ns / static_cast<double>(measurement.latency_ns.size())
                            : ranked.summary.median_ns;
  limits.work = work_of(run, configuration);
  if (limits.inference_ns <= 0 || (limits.work.flops <= 0 && limits.work.memory_bytes <= 0)) return std::nullopt;
  limits.busy = busy_share(measurement);
  if (!limits.busy && isolated != nullptr) {
    limits.busy = busy_share(*isolated);
    limits.busy_isolated = limits.busy.has_value();
  }
  find_floors(limits, run, configuration);
  limits.bound = classify(limits, run, configuration);
  const bool by_nodes =
      limits.bound == GpuBound::memory || (limits.bound == GpuBound::launch && !waits_for_the_host(limits));
  limits.likely = by_nodes && !limits.work.as_run;
  limits.slow_kernels = are_kernels_slow(limits);
  if (const auto floor_ns = floor_of(limits); floor_ns && *floor_ns > 0)
    limits.distance = limits.inference_ns / *floor_ns;
  return limits;
}

}  // namespace ridgeline::analysis
