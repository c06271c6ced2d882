// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/configuration.hpp"
#include "schema/param_def.hpp"

namespace ridgeline::schema {

/// Every tunable parameter, in the order documentation shows them. Rows live in catalog/*.cpp.
[[nodiscard]] const std::vector<ParamDef>& catalog();

/// nullptr when there is none of that key.
[[nodiscard]] const ParamDef* find_param(std::string_view key);

/// As find_param; the error names the nearest key.
[[nodiscard]] base::Result<const ParamDef*> require_param(std::string_view key);

/// "key=value" to a checked pair (--set).
[[nodiscard]] base::Result<std::pair<std::string, Value>> parse_setting(std::string_view text);

/// The value of a setting, or the runtime's default when it is unset; nullopt when that depends on the machine.
[[nodiscard]] std::optional<Value> effective_value(const Configuration& configuration, const std::string& key);

/// Every key known and every value legal.
[[nodiscard]] base::Result<void> check_configuration(const Configuration& configuration);

/// The row groups, one function a file.
[[nodiscard]] std::vector<ParamDef> ort_session_params();
[[nodiscard]] std::vector<ParamDef> execution_params();
[[nodiscard]] std::vector<ParamDef> cuda_provider_params();
[[nodiscard]] std::vector<ParamDef> cuda_arena_params();
[[nodiscard]] std::vector<ParamDef> tensorrt_provider_params();
[[nodiscard]] std::vector<ParamDef> openvino_provider_params();
[[nodiscard]] std::vector<ParamDef> webgpu_provider_params();
[[nodiscard]] std::vector<ParamDef> tensorrt_rtx_provider_params();
[[nodiscard]] std::vector<ParamDef> torch_params();
/// What is worth trying on a PyTorch model, by what usually wins (benchmarks/results/torch.md).
struct TorchRecipes {
  Configuration calls;                  ///< how each of `complete` is called
  std::vector<Configuration> complete;  ///< beside `calls`; known before anything ran, so that all can be prepared
  std::vector<Configuration> on_best;   ///< each on top of the best so far
  std::vector<Configuration> last;      ///< the same, after all else: slow to compile, and seldom faster
};
[[nodiscard]] TorchRecipes torch_recipes();

}  // namespace ridgeline::schema
