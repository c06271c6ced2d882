// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tune_run_builder.hpp"

namespace ridgeline::analysis {

/// Records of a run on one GPU of known ceilings, for a model of known work.
struct GpuRunBuilder : TuneRunBuilder {
  GpuRunBuilder() {
    run.provider = "cuda";
    run.device = "gpu:GPU-1";
    run.environment.gpus.resize(1);
    run.environment.gpus[0].uuid = "GPU-1";
    run.environment.gpus[0].memory_bytes = 150'000'000'000;
    run.gpu_ceilings.emplace();
    run.gpu_ceilings->copy_gb_per_s = 4000;
    run.gpu_ceilings->h2d_gb_per_s = 50;
    run.gpu_ceilings->d2h_gb_per_s = 50;
    run.gpu_ceilings->h2d_pageable_gb_per_s = 10;
    run.gpu_ceilings->d2h_pageable_gb_per_s = 10;
    run.gpu_ceilings->matmul_fp32_tflops = 50;
    run.gpu_ceilings->matmul_tf32_tflops = 400;
    run.gpu_ceilings->launch_us = 2;
    auto& model = run.model;
    model.inputs = {{"x", "float", {-1, 3, 224, 224}, {"N", "", "", ""}}};
    model.outputs = {{"y", "float", {-1, 1000}, {"N", ""}}};
    model.shapes = {{{"x", {1, 3, 224, 224}}}};
    model.batch_axis_size = 1;
    model.parameter_types = {{"float", 25'000'000}};
    model.parameters = 25'000'000;
    model.parameter_bytes = 100'000'000;
    model.nodes = 120;
    model.flops = 8e9;
    model.min_bytes = 180e6;
  }

  /// A trial with the GPU busy for `busy_percent` of the time, or with that unread when negative.
  schema::Measurement& add_gpu(schema::Configuration configuration, double median_ms, double busy_percent) {
    auto& measurement = add(std::move(configuration), median_ms * 1e6, 0, 200);
    auto& gpu = measurement.gpu.emplace();
    gpu.uuid = "GPU-1";
    measurement.warmup_ns = 1e9;
    gpu.timed_from_s = 1;
    gpu.timed_to_s = 2;
    for (int i = 0; i < 12 && busy_percent >= 0; ++i) {
      schema::GpuSample sample;
      sample.at_s = 0.25 * i;
      // Before and after the timed window the card idles.
      sample.utilization_percent = sample.at_s >= 1 && sample.at_s <= 2 ? busy_percent : 0;
      gpu.samples.push_back(sample);
    }
    return measurement;
  }
};

}  // namespace ridgeline::analysis
