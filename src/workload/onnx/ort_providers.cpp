// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_providers.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "schema/execution_provider.hpp"
#include "schema/suggestion.hpp"
#include "workload/onnx/cuda_libraries.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/ort_plugins.hpp"
#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

struct KeysAndValues {
  explicit KeysAndValues(const ProviderOptions& options) {
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }
  std::vector<const char*> keys;
  std::vector<const char*> values;
};

using ReadBack = std::map<std::string, std::string>;

/// "name=value;name=value" as the provider writes its options.
ReadBack parse_options(const std::string& text) {
  ReadBack options;
  for (const auto& pair : base::split(text, ';'))
    if (const auto at = pair.find('='); at != std::string::npos) options[pair.substr(0, at)] = pair.substr(at + 1);
  return options;
}

template <typename T>
base::Result<ReadBack> read_options(const OrtApi& api, const T* provider,
                                    OrtStatus*(ORT_API_CALL* read)(const T*, OrtAllocator*, char**)) {
  OrtAllocator* allocator = nullptr;
  RL_TRY(check_ort(api, api.GetAllocatorWithDefaultOptions(&allocator)));
  char* text = nullptr;
  RL_TRY(check_ort(api, read(provider, allocator, &text)));
  auto options = parse_options(text != nullptr ? text : "");
  RL_TRY(check_ort(api, api.AllocatorFree(allocator, text)));
  return options;
}

base::Result<ReadBack> append_cuda(const OrtEnvironment& environment, OrtSessionOptions* session,
                                   const ProviderOptions& options, void* compute_stream) {
  const auto& api = environment.api();
  OrtCUDAProviderOptionsV2* created = nullptr;
  RL_TRY(check_ort(api, api.CreateCUDAProviderOptions(&created)));
  const OrtHandle<OrtCUDAProviderOptionsV2> cuda(created, api.ReleaseCUDAProviderOptions);
  const KeysAndValues texts(options);
  RL_TRY(check_ort(api,
                   api.UpdateCUDAProviderOptions(created, texts.keys.data(), texts.values.data(), texts.keys.size())));
  if (compute_stream != nullptr)
    RL_TRY(check_ort(api, api.UpdateCUDAProviderOptionsWithValue(created, "user_compute_stream", compute_stream)));
  RL_TRY_ASSIGN(auto read_back, read_options(api, created, api.GetCUDAProviderOptionsAsString));
  RL_TRY(check_ort(api, api.SessionOptionsAppendExecutionProvider_CUDA_V2(session, created)));
  return read_back;
}

base::Result<ReadBack> append_tensorrt(const OrtEnvironment& environment, OrtSessionOptions* session,
                                       const ProviderOptions& options, void* compute_stream) {
  const auto& api = environment.api();
  OrtTensorRTProviderOptionsV2* created = nullptr;
  RL_TRY(check_ort(api, api.CreateTensorRTProviderOptions(&created)));
  const OrtHandle<OrtTensorRTProviderOptionsV2> tensorrt(created, api.ReleaseTensorRTProviderOptions);
  const KeysAndValues texts(options);
  RL_TRY(check_ort(
      api, api.UpdateTensorRTProviderOptions(created, texts.keys.data(), texts.values.data(), texts.keys.size())));
  if (compute_stream != nullptr)
    RL_TRY(check_ort(api, api.UpdateTensorRTProviderOptionsWithValue(created, "user_compute_stream", compute_stream)));
  RL_TRY_ASSIGN(auto read_back, read_options(api, created, api.GetTensorRTProviderOptionsAsString));
  RL_TRY(check_ort(api, api.SessionOptionsAppendExecutionProvider_TensorRT_V2(session, created)));
  return read_back;
}

/// The provider does not tell what it holds, and the status of a failure does not tell why: the log does.
base::Result<ReadBack> append_openvino(const OrtEnvironment& environment, OrtSessionOptions* session,
                                       const ProviderOptions& options, void* /*compute_stream*/) {
  const auto& api = environment.api();
  RL_TRY_ASSIGN(const auto folded, fold_properties(options, property_device(options)));
  const KeysAndValues texts(folded);
  base::Result<void> appended;
  const auto logged = environment.logged_by([&] {
    appended = check_ort(api, api.SessionOptionsAppendExecutionProvider_OpenVINO_V2(
                                  session, texts.keys.data(), texts.values.data(), texts.keys.size()));
  });
  if (appended) return ReadBack{};
  auto error = std::move(appended).error();
  if (!logged.empty()) error.message = logged;
  error.code = options.empty() ? ErrorCode::unavailable : ErrorCode::invalid_argument;
  return tl::unexpected<base::Error>(std::move(error));
}

using Append = base::Result<ReadBack> (*)(const OrtEnvironment&, OrtSessionOptions*, const ProviderOptions&,
                                          void* compute_stream);

/// How each provider that is neither built in nor a plug-in is put on a session.
const std::map<std::string_view, Append> kAppend{
    {"cuda", append_cuda}, {"tensorrt", append_tensorrt}, {"openvino", append_openvino}};

/// Options become entries of the session, where keys that nobody reads vanish without a word.
base::Result<ReadBack> append_plugin(const OrtApi& api, OrtSessionOptions* session, const ProviderOptions& options,
                                     const PluginDevice& on) {
  RL_TRY_ASSIGN(const auto folded, fold_properties(options, on.plugin.device));
  const KeysAndValues texts(folded);
  RL_TRY(check_ort(api, api.SessionOptionsAppendExecutionProvider_V2(session, on.env, &on.device, 1, texts.keys.data(),
                                                                     texts.values.data(), texts.keys.size())));
  ReadBack held;
  std::string prefix = "ep." + on.plugin.ep_name + ".";
  for (auto& c : prefix) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [key, value] : folded) {
    const auto entry = prefix + key;
    int has = 0;
    RL_TRY(check_ort(api, api.HasSessionConfigEntry(session, entry.c_str(), &has)));
    if (has == 0) continue;
    RL_TRY_ASSIGN(held[key], config_entry(api, session, entry.c_str()));
  }
  unfold_properties(held, on.plugin.device);
  return held;
}

/// Makes the provider's own libraries loadable. One that stays missing is named here, which ONNX Runtime does less
/// well.
base::Result<void> prepare_libraries(const OrtLibrary& library, const schema::ExecutionProvider& provider,
                                     const OrtSearchEnvironment& environment) {
  RL_TRY_ASSIGN(const auto file, provider_file(library.path(), provider));
  RL_TRY_ASSIGN(const auto libraries, prepare_provider_libraries(file, environment));
  return libraries.usable();
}

/// The provider and whom it falls back to, as far as they are not built in.
std::vector<const schema::ExecutionProvider*> chain_of(const schema::ExecutionProvider& provider) {
  std::vector<const schema::ExecutionProvider*> chain{&provider};
  for (const auto& fallback : provider.fallbacks) chain.push_back(&schema::provider_of(fallback));
  std::erase_if(chain, [](const auto* one) { return one->file.empty(); });
  return chain;
}

}  // namespace

base::Result<void> check_provider(const OrtLibrary& library, const std::string& provider) {
  const auto* row = schema::find_provider(provider);
  if (row == nullptr)
    return base::fail(ErrorCode::invalid_argument, "unknown provider \"{}\"; expected one of {}", provider,
                      fmt::join(schema::provider_ids(), ", "))
        .hint("{}", schema::suggest(provider, schema::provider_ids()));
  if (row->file.empty()) return {};
  RL_TRY_ASSIGN(const auto built_in, library.providers());
  if (std::find(built_in.begin(), built_in.end(), row->library_name) == built_in.end())
    return base::fail(ErrorCode::unsupported, "provider {}: {} was built without it (it has {})", provider,
                      library.path().string(), fmt::join(built_in, ", "))
        .hint("use {} of ONNX Runtime", row->on_gpu() ? "a GPU build" : "another build");
  return {};
}

base::Result<std::string> config_entry(const OrtApi& api, const OrtSessionOptions* options, const char* key) {
  std::size_t size = 0;
  RL_TRY(check_ort(api, api.GetSessionConfigEntry(options, key, nullptr, &size)));
  std::string text(size, '\0');
  RL_TRY(check_ort(api, api.GetSessionConfigEntry(options, key, text.data(), &size)));
  text.resize(size == 0 ? 0 : size - 1);  // the size counts the final NUL
  return text;
}

base::Result<std::map<std::string, std::string>> append_provider(const OrtEnvironment& environment,
                                                                 OrtSessionOptions* options,
                                                                 const std::string& provider,
                                                                 const ProviderSetup& setup) {
  const auto& library = environment.library();
  RL_TRY(check_provider(library, provider));
  const auto& row = schema::provider_of(provider);
  if (row.plugin && setup.plugin == nullptr)
    return base::fail(ErrorCode::invalid_argument, "provider {}: it is a plug-in, and the trial names no library of it",
                      provider)
        .hint("give its library with --ep-library FILE");
  if (row.plugin) return append_plugin(library.api(), options, setup.options, *setup.plugin);
  const auto chain = chain_of(row);
  const auto search = OrtSearchEnvironment::of_this_process();
  // TensorRT's library needs that of CUDA to be there, so the last of the chain comes first.
  for (auto one = chain.rbegin(); one != chain.rend(); ++one) RL_TRY(prepare_libraries(library, **one, search));
  ReadBack own;
  for (const auto* one : chain) {
    const auto append = kAppend.find(one->id);
    if (append == kAppend.end())
      return base::fail(ErrorCode::internal, "provider {}: this build of Ridgeline cannot put it on a session",
                        one->id);
    const bool is_own = one == chain.front();
    RL_TRY_ASSIGN(auto read_back, append->second(environment, options, is_own ? setup.options : ProviderOptions{},
                                                 setup.compute_stream));
    if (is_own) own = std::move(read_back);
  }
  return own;
}

}  // namespace ridgeline::workload
