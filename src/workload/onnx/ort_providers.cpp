// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_providers.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "workload/onnx/ort_library.hpp"
#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using Options = std::vector<std::pair<std::string, std::string>>;

struct KeysAndValues {
  explicit KeysAndValues(const Options& options) {
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }
  std::vector<const char*> keys;
  std::vector<const char*> values;
};

base::Result<void> append_cuda(const OrtApi& api, OrtSessionOptions* session, const Options& options) {
  OrtCUDAProviderOptionsV2* created = nullptr;
  RL_TRY(check_ort(api, api.CreateCUDAProviderOptions(&created)));
  const OrtHandle<OrtCUDAProviderOptionsV2> cuda(created, api.ReleaseCUDAProviderOptions);
  const KeysAndValues texts(options);
  RL_TRY(check_ort(api,
                   api.UpdateCUDAProviderOptions(created, texts.keys.data(), texts.values.data(), texts.keys.size())));
  return check_ort(api, api.SessionOptionsAppendExecutionProvider_CUDA_V2(session, created));
}

base::Result<void> append_tensorrt(const OrtApi& api, OrtSessionOptions* session, const Options& options) {
  OrtTensorRTProviderOptionsV2* created = nullptr;
  RL_TRY(check_ort(api, api.CreateTensorRTProviderOptions(&created)));
  const OrtHandle<OrtTensorRTProviderOptionsV2> tensorrt(created, api.ReleaseTensorRTProviderOptions);
  const KeysAndValues texts(options);
  RL_TRY(check_ort(
      api, api.UpdateTensorRTProviderOptions(created, texts.keys.data(), texts.values.data(), texts.keys.size())));
  return check_ort(api, api.SessionOptionsAppendExecutionProvider_TensorRT_V2(session, created));
}

}  // namespace

base::Result<void> append_provider(const OrtLibrary& library, OrtSessionOptions* options, const std::string& provider,
                                   const Options& provider_options) {
  if (provider == "cpu") return {};
  const std::string name = provider == "cuda"       ? "CUDAExecutionProvider"
                           : provider == "tensorrt" ? "TensorrtExecutionProvider"
                                                    : "";
  if (name.empty())
    return base::fail(ErrorCode::invalid_argument, "unknown provider \"{}\"{}; expected cpu, cuda or tensorrt",
                      provider, base::did_you_mean(provider, {"cpu", "cuda", "tensorrt"}));
  RL_TRY_ASSIGN(const auto built_in, library.providers());
  if (std::find(built_in.begin(), built_in.end(), name) == built_in.end())
    return base::fail(ErrorCode::unsupported,
                      "provider {}: {} was built without it (it has {}); use a GPU build of ONNX Runtime", provider,
                      library.path().string(), fmt::join(built_in, ", "));
  if (provider == "cuda") return append_cuda(library.api(), options, provider_options);
  RL_TRY(append_tensorrt(library.api(), options, provider_options));
  return append_cuda(library.api(), options, {});
}

}  // namespace ridgeline::workload
