// SPDX-License-Identifier: Apache-2.0
// The execution providers of ONNX Runtime. A new one is a row here and its options as parameters; one that is no
// plug-in also a function in workload/onnx/ort_providers.cpp that appends it to a session.
#include <algorithm>

#include "schema/execution_provider.hpp"
#include "schema/messages.hpp"

namespace ridgeline::schema {
namespace {

const ExecutionProvider* find(const std::vector<ExecutionProvider>& rows, std::string ExecutionProvider::*key,
                              std::string_view value) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.*key == value; });
  return at == rows.end() ? nullptr : &*at;
}

const ExecutionProvider* find_anywhere(std::string ExecutionProvider::*key, std::string_view value) {
  const auto* row = find(execution_providers(), key, value);
  return row != nullptr ? row : find(other_providers(), key, value);
}

}  // namespace

const std::vector<ExecutionProvider>& execution_providers() {
  static const std::vector<ExecutionProvider> rows{
      {.id = "cpu", .library_name = "CPUExecutionProvider", .title = "CPU", .auto_rank = 1},
      {.id = "cuda",
       .library_name = "CUDAExecutionProvider",
       .title = "CUDA",
       .device = DeviceKind::gpu,
       .file = "libonnxruntime_providers_cuda.so",
       // Release 1.29 and later run without it, but then with other kernels than the settings name.
       .opens = {"libcudnn.so.9"},
       .fallbacks = {"cpu"},
       .auto_rank = 2,
       .takes_device_tensors = true,
       .weights_in_arena = true,
       .graph_per_shape = true},
      // "auto" does not take it: building engines takes minutes a session.
      {.id = "tensorrt",
       .library_name = "TensorrtExecutionProvider",
       .title = "TensorRT",
       .device = DeviceKind::gpu,
       .file = "libonnxruntime_providers_tensorrt.so",
       .fallbacks = {"cuda", "cpu"},
       .takes_device_tensors = true,
       .compiles_graph = true},
      {.id = "openvino",
       .library_name = "OpenVINOExecutionProvider",
       .title = "OpenVINO",
       .file = "libonnxruntime_providers_openvino.so",
       .fallbacks = {"cpu"},
       .own_threads = true},
      {.id = "openvino-plugin",
       .library_name = "OpenVINOExecutionProvider",
       .title = "OpenVINO plug-in",
       .fallbacks = {"cpu"},
       .own_threads = true,
       .plugin = true,
       .plugin_file = "libonnxruntime_providers_openvino_plugin.so",
       .plugin_devices = "Intel CPUs, GPUs and NPUs only",
       .instead = messages::fix_openvino_package()},
      {.id = "webgpu",
       .library_name = "WebGpuExecutionProvider",
       .title = "WebGPU",
       .device = DeviceKind::other,
       .fallbacks = {"cpu"},
       .own_threads = true,
       .plugin = true,
       .plugin_file = "libonnxruntime_providers_webgpu.so",
       .plugin_devices = "GPUs with a Vulkan driver",
       .instead = messages::fix_webgpu_adapter()},
      {.id = "nv-tensorrt-rtx",
       .library_name = "NvTensorRTRTXExecutionProvider",
       .title = "TensorRT-RTX",
       .device = DeviceKind::gpu,
       .fallbacks = {"cpu"},
       .compiles_graph = true,
       .plugin = true,
       .plugin_file = "libonnxruntime_providers_nv_tensorrt_rtx.so",
       .plugin_devices = "GPUs of compute capability 8.6, 8.9 and 12.0 or later",
       .instead = messages::fix_gpu_package(true)},
      {.id = "cuda-plugin",
       .library_name = "CUDAExecutionProvider",
       .title = "CUDA plug-in",
       .device = DeviceKind::gpu,
       .fallbacks = {"cpu"},
       .plugin = true,
       .plugin_file = "libonnxruntime_providers_cuda.so",
       .plugin_devices = "NVIDIA GPUs",
       .instead = messages::fix_gpu_package(false)},
      {.id = "plugin",
       .title = "a plug-in",
       .device = DeviceKind::other,
       .fallbacks = {"cpu"},
       .own_threads = true,
       .plugin = true,
       .instead = messages::fix_other_provider()},
  };
  return rows;
}

const std::vector<ExecutionProvider>& torch_providers() {
  static const std::vector<ExecutionProvider> rows{{.id = "pytorch",
                                                    .library_name = "PyTorch",
                                                    .title = "PyTorch",
                                                    .engine = "torch",
                                                    .compiles_calls = true,
                                                    .own_threads = true,
                                                    .own_process = true},
                                                   {.id = "pytorch-cuda",
                                                    .library_name = "PyTorch with CUDA",
                                                    .title = "PyTorch with CUDA",
                                                    .device = DeviceKind::gpu,
                                                    .engine = "torch",
                                                    .takes_device_tensors = true,
                                                    .compiles_calls = true,
                                                    .own_threads = true,
                                                    .own_process = true}};
  return rows;
}

const std::vector<ExecutionProvider>& other_providers() {
  static const auto gpu = [](std::string library_name, std::string title, std::string file) {
    return ExecutionProvider{.library_name = std::move(library_name),
                             .title = std::move(title),
                             .device = DeviceKind::gpu,
                             .file = std::move(file)};
  };
  static const std::vector<ExecutionProvider> rows{
      gpu("MIGraphXExecutionProvider", "MIGraphX", "libonnxruntime_providers_migraphx.so"),
      gpu("ROCMExecutionProvider", "ROCm", "libonnxruntime_providers_rocm.so")};
  return rows;
}

const ExecutionProvider* find_provider(std::string_view id) {
  const auto* row = find(execution_providers(), &ExecutionProvider::id, id);
  return row != nullptr ? row : find(torch_providers(), &ExecutionProvider::id, id);
}

const ExecutionProvider* find_provider_named(std::string_view library_name) {
  return find_anywhere(&ExecutionProvider::library_name, library_name);
}

const ExecutionProvider* find_provider_in(std::string_view file) {
  return find_anywhere(&ExecutionProvider::file, file);
}

const ExecutionProvider& plugin_provider(std::string_view ep_name) {
  const ExecutionProvider* other = nullptr;
  for (const auto& row : execution_providers()) {
    if (row.plugin && row.library_name == ep_name) return row;
    if (row.plugin && row.library_name.empty()) other = &row;
  }
  return *other;
}

const ExecutionProvider* find_plugin_in(std::string_view file) {
  for (const auto& row : execution_providers())
    if (row.plugin && !row.plugin_file.empty() && file.rfind(row.plugin_file, 0) == 0) return &row;
  return nullptr;
}

const ExecutionProvider& provider_of(std::string_view id) {
  static const ExecutionProvider unknown;
  const auto* row = find_provider(id);
  return row != nullptr ? *row : unknown;
}

const ExecutionProvider& cpu_provider() { return execution_providers().front(); }

std::vector<const ExecutionProvider*> auto_providers() {
  std::vector<const ExecutionProvider*> wanted;
  for (const auto& row : execution_providers())
    if (row.auto_rank > 0) wanted.push_back(&row);
  std::sort(wanted.begin(), wanted.end(), [](const auto* a, const auto* b) { return a->auto_rank > b->auto_rank; });
  return wanted;
}

const ExecutionProvider& usual_gpu_provider() {
  const auto wanted = auto_providers();
  return **std::find_if(wanted.begin(), wanted.end(), [](const auto* row) { return row->on_gpu(); });
}

const ExecutionProvider& cpu_provider_beside(std::string_view id) {
  return provider_of(id).engine == cpu_provider().engine ? cpu_provider() : torch_providers().front();
}

const ExecutionProvider& plain_provider_of(std::string_view id) {
  const auto& row = provider_of(id);
  const auto plain = [](const ExecutionProvider& one) { return !one.compiles_graph && !one.plugin; };
  if (plain(row)) return row;
  for (const auto& fallback : row.fallbacks)
    if (const auto& next = provider_of(fallback); plain(next)) return next;
  return cpu_provider();
}

std::vector<std::string> provider_ids() {
  std::vector<std::string> ids;
  for (const auto& row : execution_providers()) ids.push_back(row.id);
  return ids;
}

std::vector<std::string> namesake_ids(std::string_view id) {
  std::vector<std::string> ids;
  for (const auto& row : execution_providers())
    if (row.library_name == provider_of(id).library_name) ids.push_back(row.id);
  return ids;
}

std::vector<std::string> provider_ids(bool ExecutionProvider::*can) {
  std::vector<std::string> ids;
  for (const auto& row : execution_providers())
    if (row.*can) ids.push_back(row.id);
  return ids;
}

}  // namespace ridgeline::schema
