// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "schema/model_description.hpp"

namespace ridgeline::workload {

/// What a dimension's symbolic name says it is.
enum class DimRole { batch, channels, height, width, sequence, past, samples, frames, unknown };

/// From names such as "batch_size", "N", "seq_len", "past_sequence_length", "height". Numbered names that exporters
/// make up ("unk__12", "p2o.DynamicDimension.0") are unknown.
[[nodiscard]] DimRole role_of_dim_name(std::string_view name);

/// The axis of an input or output that carries the batch: a dynamic dimension named like one, else a dynamic first
/// dimension whose name does not say that it is something else. nullopt when there is none.
[[nodiscard]] std::optional<std::size_t> dynamic_batch_axis(const schema::TensorDescription& tensor);

/// The model's inputs with their batch axes set to `batch`; inputs without a dynamic batch axis stay as they are.
[[nodiscard]] schema::ShapeSet with_batch(const std::vector<schema::TensorDescription>& inputs, schema::ShapeSet shapes,
                                          std::int64_t batch);

}  // namespace ridgeline::workload
