// SPDX-License-Identifier: Apache-2.0
// Levers that are Ridgeline's own: how many inferences run side by side, how large each is, and how data gets to the
// GPU and back.
#include "schema/catalog.hpp"
#include "schema/execution_provider.hpp"

namespace ridgeline::schema {

std::vector<ParamDef> execution_params() {
  using enum ParamScope;
  using enum ParamType;
  return {
      {.key = "parallel_sessions",
       .target = "parallel_sessions",
       .scope = execution,
       .type = integer,
       .minimum = 1,
       .maximum = 256,
       .default_value = 1,
       .summary = "sessions of the same model that serve requests side by side in one process",
       .when = "objective throughput; pairs with fewer threads a session",
       .hazard = "every session holds its own activations and, on most providers, its own weights"},
      {.key = "concurrent_runs",
       .target = "concurrent_runs",
       .scope = execution,
       .type = integer,
       .minimum = 1,
       .maximum = 256,
       .default_value = 1,
       .summary = "threads that run each session at the same time, as those of a server do that has one session",
       .when = "objective throughput with memory for one session only: weights are held once",
       .hazard = "runs of one session share its threads and arena; not with CUDA graphs or io_binding=stream, which "
                 "belong to one run at a time",
       .searched = false},
      {.key = "batch_size",
       .target = "batch_size",
       .scope = execution,
       .type = integer,
       .minimum = 1,
       .maximum = 65536,
       .default_value = 1,
       .summary = "items in one inference; for a PyTorch model 1 stands for the rows that its function returns",
       .when = "objective throughput and a dynamic batch dimension",
       .hazard = "latency and memory grow with it",
       .any_engine = true},
      {.key = "io_binding",
       .target = "io_binding",
       .scope = execution,
       .type = choice,
       .providers = provider_ids(&ExecutionProvider::takes_device_tensors),
       .choices = {"none", "pinned", "device", "stream"},
       .default_value = "none",
       .summary = "none: plain Run from pageable memory; pinned: bound to pinned host memory; device: bound to GPU "
                  "memory; stream: as device, copies and inference on one CUDA stream, one wait an inference",
       .when = "always on a GPU; bound device memory is what CUDA graphs need",
       .hazard =
           "the application must own its buffers and, with stream, the CUDA stream; stream without a CUDA graph can "
           "abort in ONNX Runtime 1.29 (CUDA error 800) and is not searched"},
      {.key = "override_free_dimensions",
       .target = "override_free_dimensions",
       .scope = execution,
       .type = boolean,
       .providers = provider_ids(&ExecutionProvider::takes_device_tensors),
       .choices = {false, true},
       .default_value = false,
       .summary = "fix the model's symbolic dimensions to the shapes at hand",
       .when = "symbolic dimensions: frees shape arithmetic from the CPU and makes CUDA graphs possible",
       .hazard = "the session then takes these shapes only"},
      {.key = "gpu_graph_id",
       .target = "gpu_graph_id",
       .scope = run_option,
       .type = choice,
       .providers = provider_ids(&ExecutionProvider::graph_per_shape),
       .choices = {"per_shape", "first_only"},
       .default_value = "per_shape",
       .summary = "per_shape: one captured CUDA graph a member of the shape mix; first_only: for the first member only",
       .when = "enable_cuda_graph and several input shapes",
       .hazard = "every captured graph keeps its memory",
       .searched = false},
  };
}

}  // namespace ridgeline::schema
