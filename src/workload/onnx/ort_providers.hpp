// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

struct OrtSessionOptions;

namespace ridgeline::workload {

class OrtLibrary;

/// Makes sessions of `options` run on "cpu", "cuda" or "tensorrt" (which falls back to CUDA, then to the CPU, node by
/// node). Errors: invalid_argument for an unknown name or option, unsupported when this library was built without the
/// provider, unavailable when the provider's libraries do not load.
[[nodiscard]] base::Result<void> append_provider(
    const OrtLibrary& library, OrtSessionOptions* options, const std::string& provider,
    const std::vector<std::pair<std::string, std::string>>& provider_options);

}  // namespace ridgeline::workload
