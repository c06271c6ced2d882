// SPDX-License-Identifier: Apache-2.0
// Options of the WebGPU plug-in (onnxruntime-ep-webgpu 0.4) that change speed or memory. It refuses illegal values.
#include "schema/catalog.hpp"
#include "schema/catalog/param_rows.hpp"

namespace ridgeline::schema {
namespace {

ParamDef webgpu_choice(std::string key, std::string target, std::optional<Value> default_value,
                       std::vector<Value> choices) {
  return one_of(std::move(choices), provider_row(std::move(key), std::move(target), {"webgpu"}, ParamType::choice,
                                                 std::move(default_value)));
}

}  // namespace

std::vector<ParamDef> webgpu_provider_params() {
  const std::vector<Value> caches{"disabled", "lazyRelease", "simple", "bucket"};
  const std::string reuse = "trading memory for the cost of creating buffers";
  const std::string keeps = "disabled: a new buffer each time; bucket keeps more memory than is in use";
  return {
      described(webgpu_choice("webgpu_layout", "preferredLayout", "NHWC", {"NHWC", "NCHW"}), "layout of convolutions",
                "convolutions", "a layout that a kernel lacks costs transposes"),
      described(
          webgpu_choice("webgpu_validation", "validationMode", std::nullopt, {"disabled", "wgpuOnly", "basic", "full"}),
          "how much Dawn and the provider check each call", "models of many small kernels",
          "disabled: a fault in a kernel goes unnoticed"),
      described(webgpu_choice("webgpu_storage_cache", "storageBufferCacheMode", std::nullopt, caches),
                "how buffers of tensors are kept for reuse", reuse, keeps),
      on_request(described(webgpu_choice("webgpu_uniform_cache", "uniformBufferCacheMode", std::nullopt, caches),
                           "how buffers of kernel parameters are kept for reuse", reuse, keeps)),
      on_request(described(webgpu_choice("webgpu_graph_capture", "enableGraphCapture", "0", {"0", "1"}),
                           "record the commands of a run once and replay them", "many small kernels, fixed shapes",
                           "needs every node on the GPU and inputs bound there, which ridgeline does not do")),
      on_request(described(
          webgpu_choice("webgpu_power_preference", "powerPreference", std::nullopt, {"high-performance", "low-power"}),
          "which GPU to use if there are two", "notebooks", "a different device is timed")),
  };
}

}  // namespace ridgeline::schema
