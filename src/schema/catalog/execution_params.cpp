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
       .summary = "sessions of the same model that serve requests in parallel in one process",
       .when = "objective throughput; combine with fewer threads per session",
       .hazard = "every session has its own activations and usually its own weights"},
      {.key = "concurrent_runs",
       .target = "concurrent_runs",
       .scope = execution,
       .type = integer,
       .minimum = 1,
       .maximum = 256,
       .default_value = 1,
       .summary = "threads that call each session at the same time, as in a server with one session",
       .when = "objective throughput with memory for only one session: weights are stored once",
       .hazard = "runs of one session share its threads and arena; not with CUDA graphs or io_binding=stream, which "
                 "allow one run at a time",
       .searched = false},
      {.key = "batch_size",
       .target = "batch_size",
       .scope = execution,
       .type = integer,
       .minimum = 1,
       .maximum = 65536,
       .default_value = 1,
       .summary = "images, sequences or samples per inference; for a PyTorch model, 1 means the rows that its function "
                  "returns",
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
                  "memory; stream: as device, with copies and inference on one CUDA stream and one wait per inference",
       .when = "always on a GPU; CUDA graphs need bound device memory",
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
       .summary = "fix the model's symbolic dimensions to the shapes in use",
       .when = "symbolic dimensions: removes shape arithmetic from the CPU and makes CUDA graphs possible",
       .hazard = "the session then accepts only these shapes"},
      {.key = "gpu_graph_id",
       .target = "gpu_graph_id",
       .scope = run_option,
       .type = choice,
       .providers = provider_ids(&ExecutionProvider::graph_per_shape),
       .choices = {"per_shape", "first_only"},
       .default_value = "per_shape",
       .summary = "per_shape: one captured CUDA graph per shape in the mix; first_only: only for the first shape",
       .when = "enable_cuda_graph and several input shapes",
       .hazard = "every captured graph keeps its memory",
       .searched = false},
  };
}

}  // namespace ridgeline::schema
