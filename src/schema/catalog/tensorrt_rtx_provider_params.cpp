// SPDX-License-Identifier: Apache-2.0
// Options of the TensorRT-RTX plug-in (onnxruntime-ep-nv-tensorrt-rtx 0.5): those of its header without the pointers,
// the number of a stream array and the dumps.
#include "schema/catalog.hpp"
#include "schema/catalog/param_rows.hpp"

namespace ridgeline::schema {
namespace {

/// Each value compiles the engine anew, so none but the graph is swept.
ParamDef rtx_option(const std::string& key, ParamType type, Value default_value, std::string summary, std::string when,
                    std::string hazard) {
  auto row = provider_row(key, key, {"nv-tensorrt-rtx"}, type, std::move(default_value));
  if (type == ParamType::integer) {
    row.minimum = 0;
    row.maximum = 1e15;
    row.unit = "bytes";
  }
  return on_request(described(std::move(row), std::move(summary), std::move(when), std::move(hazard)));
}

}  // namespace

std::vector<ParamDef> tensorrt_rtx_provider_params() {
  using enum ParamType;
  const std::string all_three = "dynamic shapes; set all three";
  auto graph = described(provider_row("nv_cuda_graph", "enable_cuda_graph", {"nv-tensorrt-rtx"}, boolean, false),
                         "capture launches once and replay them as one", "launch-bound models with fixed shapes",
                         "the whole model must be one engine");
  return {
      std::move(graph),
      rtx_option("nv_max_workspace_size", integer, 0, "scratch memory that kernels may use; 0 = all of it",
                 "GPU memory is short", "too small a limit rules out fast kernels"),
      rtx_option("nv_max_shared_mem_size", integer, 0, "shared memory that a kernel may use; 0 = all of it",
                 "other processes on the GPU need some", "too small a limit rules out fast kernels"),
      rtx_option("nv_weight_streaming_budget", integer, 0,
                 "weights kept on the GPU while the rest is streamed; 0 = all", "models larger than the GPU's memory",
                 "slower: weights cross the bus in every run"),
      rtx_option("nv_profile_min_shapes", text, "", "smallest shapes the engine accepts: input:dims[,input:dims]",
                 all_three, "a shape outside the profile compiles again"),
      rtx_option("nv_profile_opt_shapes", text, "", "shapes to optimise for", all_three, "other shapes are slower"),
      rtx_option("nv_profile_max_shapes", text, "", "largest shapes", all_three,
                 "memory is allocated for the largest shapes"),
      rtx_option("nv_multi_profile_enable", boolean, false, "several profiles in one engine", "several sets of shapes",
                 "each profile takes memory"),
      rtx_option("nv_runtime_cache_path", text, "", "folder for compiled kernels", "every start but the first",
                 "no faster inference"),
      rtx_option("nv_op_types_to_exclude", text, "", "comma-separated operator types left to the CPU",
                 "an operator that it runs badly", "each splits the graph, with copies between the parts"),
      rtx_option("nv_use_external_data_initializer", boolean, false, "hand initializers over in memory",
                 "very large models", "more host memory while it compiles"),
      rtx_option("nv_persistent_context_memory", boolean, false, "keep the engine's scratch memory between runs",
                 "repeated runs", "nobody else can use that memory"),
      rtx_option("nv_use_sync_gpu_allocator", boolean, false, "allocate without streams", "inspecting an allocation",
                 "slower"),
  };
}

}  // namespace ridgeline::schema
