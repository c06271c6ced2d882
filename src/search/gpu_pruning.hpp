// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "schema/message.hpp"
#include "schema/param_def.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::search {

/// Why the runtime ignores the parameter, so that it is left out even when the user asks for it; nullopt: it can
/// matter.
[[nodiscard]] std::optional<schema::Message> why_impossible_on_gpu(const schema::ParamDef& param,
                                                                   const SpaceInput& input);

/// Why no session can keep to that value of it, whoever asks for it.
[[nodiscard]] std::optional<schema::Message> why_impossible_on_gpu(const schema::ParamDef& param,
                                                                   const schema::Value& value, const SpaceInput& input);

/// Why trying the parameter on an NVIDIA GPU would be a waste; nullopt: it may matter. Facts: ONNX Runtime's CUDA
/// provider and measurements on an H200.
[[nodiscard]] std::optional<schema::Message> why_pointless_on_gpu(const schema::ParamDef& param,
                                                                  const SpaceInput& input);

/// The same for one of its values.
[[nodiscard]] std::optional<schema::Message> why_pointless_on_gpu(const schema::ParamDef& param,
                                                                  const schema::Value& value, const SpaceInput& input);

}  // namespace ridgeline::search
