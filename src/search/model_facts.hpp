// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "search/space_builder.hpp"

namespace ridgeline::search {

/// Questions that pruning asks of the input.

/// A synthetic workload has no graph to reason about.
[[nodiscard]] bool knows_model(const SpaceInput& input);
[[nodiscard]] bool is_onnxruntime(const SpaceInput& input);
/// Whether trials run on a GPU.
[[nodiscard]] bool on_gpu(const SpaceInput& input);
/// Whether inputs and outputs stay in GPU memory (--io device).
[[nodiscard]] bool data_on_device(const SpaceInput& input);

/// Code of the user's, which returns its inputs with the model.
[[nodiscard]] bool is_code(const schema::ModelDescription& model);
/// Why no other batch than the model's own can be run; "": one can, or nothing is known of the model.
[[nodiscard]] schema::Message why_batch_fixed(const SpaceInput& input);

/// By operator type, "com.microsoft.Attention" outside ai.onnx.
[[nodiscard]] bool has_any(const schema::ModelDescription& model, std::initializer_list<const char*> operators);
[[nodiscard]] bool has_convolution(const schema::ModelDescription& model);
/// Fused attention, which the sdpa kernels serve.
[[nodiscard]] bool has_fused_attention(const schema::ModelDescription& model);
[[nodiscard]] bool computes_in_floating_point(const schema::ModelDescription& model);
/// Weights or inputs of exactly this element type.
[[nodiscard]] bool uses_type(const schema::ModelDescription& model, std::string_view element_type);

[[nodiscard]] bool shapes_vary(const schema::ModelDescription& model);
[[nodiscard]] bool has_free_dimensions(const schema::ModelDescription& model);
/// Some symbolic dimension has one size in the whole shape mix, so that a session can be told.
[[nodiscard]] bool some_free_dimension_is_constant(const schema::ModelDescription& model);

}  // namespace ridgeline::search
