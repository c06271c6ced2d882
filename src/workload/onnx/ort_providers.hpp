// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

struct OrtSessionOptions;

namespace ridgeline::workload {

class OrtLibrary;

/// Whether `provider` is one that this library was built with. Errors: invalid_argument for an unknown name,
/// unsupported when it was not.
[[nodiscard]] base::Result<void> check_provider(const OrtLibrary& library, const std::string& provider);

/// Makes sessions of `options` run on that provider (an ExecutionProvider::id) and, node by node, on those that it
/// falls back to, on `compute_stream` (a CUstream) unless that is null. Returns the provider's options as it holds
/// them, by name. Errors: invalid_argument for an unknown name or option, unsupported when this library was built
/// without the provider, unavailable when the provider's libraries do not load.
[[nodiscard]] base::Result<std::map<std::string, std::string>> append_provider(
    const OrtLibrary& library, OrtSessionOptions* options, const std::string& provider,
    const std::vector<std::pair<std::string, std::string>>& provider_options, void* compute_stream);

}  // namespace ridgeline::workload
