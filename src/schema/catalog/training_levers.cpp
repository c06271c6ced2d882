// SPDX-License-Identifier: Apache-2.0
// Levers of a training that `ridgeline bench` tries after its search. Versions are torch's.
#include <algorithm>

#include <fmt/format.h>

#include "schema/training_lever.hpp"

namespace ridgeline::schema {

const std::vector<TrainingLever>& training_levers() {
  using enum LeverNeed;
  using enum LeverPurpose;
  static const std::vector<TrainingLever> all{
      {.name = "cache_dataset",
       .value = "true",
       .summary = "the data set's samples kept in memory, if they are the same each time and fit"},
      {.name = "cache_dataset",
       .value = "device",
       .summary =
           "the data set's samples kept on the training device, if they are the same each time, of one shape, and "
           "fit: batches are made there, without workers"},
      {.name = "prefetch_factor", .value = "4", .need = workers, .summary = "batches that each worker has ready"},
      {.name = "prefetch_factor", .value = "16", .need = workers, .summary = "batches that each worker has ready"},
      {.name = "persistent_workers",
       .value = "true",
       .need = workers,
       .torch = {.since = "1.7"},
       .summary = "workers live on from epoch to epoch"},
      {.name = "non_blocking",
       .value = "true",
       .need = pinned_memory,
       .summary = "copies from pinned memory that do not wait for the GPU"},
      {.name = "channels_last", .value = "true", .summary = "images and the weights of convolutions in the order NHWC"},
      {.name = "fused_optimizer",
       .value = "fused",
       .torch = {.since = "1.13"},
       .summary = "the optimizer's step in one kernel for all parameters"},
      {.name = "fused_optimizer",
       .value = "foreach",
       .torch = {.since = "1.12"},
       .summary = "the optimizer's step by operations on lists of parameters"},
      {.name = "allow_tf32",
       .value = "true",
       .need = gpu,
       .torch = {.since = "1.7"},
       .rounds = true,
       .summary = "matrix products and convolutions in TF32"},
      {.name = "cudnn_benchmark",
       .value = "true",
       .need = gpu,
       .summary = "cuDNN times its convolutions and keeps the fastest"},
      {.name = "sdpa_backend",
       .value = "flash",
       .need = gpu,
       .torch = {.since = "2.0"},
       .summary = "one backend of scaled_dot_product_attention"},
      {.name = "sdpa_backend",
       .value = "mem_efficient",
       .need = gpu,
       .torch = {.since = "2.0"},
       .summary = "one backend of scaled_dot_product_attention"},
      {.name = "sdpa_backend",
       .value = "cudnn",
       .need = gpu,
       .torch = {.since = "2.5"},
       .summary = "one backend of scaled_dot_product_attention"},
      {.name = "sdpa_backend",
       .value = "math",
       .need = cpu,
       .torch = {.since = "2.0"},
       .summary = "one backend of scaled_dot_product_attention"},
      {.name = "cuda_graph",
       .value = "true",
       .need = gpu,
       .torch = {.since = "1.10"},
       .summary = "CUDA graphs of the model's forward and backward pass, for inputs of one shape"},
      {.name = "torch_compile",
       .value = "default",
       .torch = {.since = "2.0"},
       .summary = "the model compiled by Inductor"},
      {.name = "torch_compile",
       .value = "reduce-overhead",
       .need = gpu,
       .torch = {.since = "2.0"},
       .summary = "the model compiled by Inductor, with CUDA graphs"},
      {.name = "torch_compile",
       .value = "max-autotune",
       .torch = {.since = "2.0"},
       .on_request = true,
       .summary = "the model compiled by Inductor, which times its kernels"},
      {.name = "torch_compile",
       .value = "dynamic",
       .torch = {.since = "2.0"},
       .on_request = true,
       .summary = "the model compiled by Inductor for inputs of any shape"},
      {.name = "gradient_accumulation",
       .value = "2",
       .purpose = memory,
       .passes = 2,
       .summary = "half the batch twice per step of the optimizer"},
      {.name = "input_resolution",
       .value = "0.75",
       .purpose = offer,
       .on_request = true,
       .summary = "images with that share of their sides, made smaller on the device"},
      {.name = "input_resolution",
       .value = "0.5",
       .purpose = offer,
       .on_request = true,
       .summary = "images with that share of their sides, made smaller on the device"},
      {.name = "gradient_checkpointing",
       .value = "auto",
       .torch = {.since = "1.11"},
       .purpose = memory,
       .summary =
           "blocks of the model are computed again in the backward pass; the value may be the name of their class"},
  };
  return all;
}

std::vector<std::string> training_lever_names() {
  std::vector<std::string> names;
  for (const auto& lever : training_levers())
    if (names.empty() || names.back() != lever.name) names.emplace_back(lever.name);
  return names;
}

std::string lever_option(std::string_view name) { return fmt::format("lever:{}", name); }

}  // namespace ridgeline::schema
