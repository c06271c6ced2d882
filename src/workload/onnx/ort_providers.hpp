// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/error.hpp"
#include "workload/onnx/provider_properties.hpp"

struct OrtApi;
struct OrtSessionOptions;

namespace ridgeline::workload {

class OrtEnvironment;
class OrtLibrary;
struct PluginDevice;

/// Whether `provider` is one that this library was built with, or a plug-in. Errors: invalid_argument for an unknown
/// name, unsupported when it was not.
[[nodiscard]] base::Result<void> check_provider(const OrtLibrary& library, const std::string& provider);

/// An entry of the session's options that is there.
[[nodiscard]] base::Result<std::string> config_entry(const OrtApi& api, const OrtSessionOptions* options,
                                                     const char* key);

/// What a provider is put on a session with.
struct ProviderSetup {
  ProviderOptions options;
  void* compute_stream = nullptr;        ///< a CUstream to work on
  const PluginDevice* plugin = nullptr;  ///< of a provider that is a plug-in
};

/// Makes sessions of `options` run on that provider (an ExecutionProvider::id) and, node by node, on those that it
/// falls back to. Returns the provider's options as it holds them, by name. Errors: invalid_argument for an unknown
/// name or option, unsupported when this library was built without the provider, unavailable when the provider's
/// libraries do not load.
[[nodiscard]] base::Result<std::map<std::string, std::string>> append_provider(const OrtEnvironment& environment,
                                                                               OrtSessionOptions* options,
                                                                               const std::string& provider,
                                                                               const ProviderSetup& setup);

}  // namespace ridgeline::workload
