// SPDX-License-Identifier: Apache-2.0
#include "search/model_facts.hpp"

#include <algorithm>

#include "schema/execution_provider.hpp"
#include "search/messages.hpp"

namespace ridgeline::search {
namespace {

bool is_float(std::string_view type) { return type.find("float") != std::string_view::npos || type == "double"; }

template <typename Test>
bool any_type(const schema::ModelDescription& model, Test test) {
  for (const auto& [type, count] : model.parameter_types)
    if (test(type)) return true;
  for (const auto* tensors : {&model.inputs, &model.outputs})
    for (const auto& tensor : *tensors)
      if (test(tensor.element_type)) return true;
  return false;
}

/// The size of one dimension of an input in every member of the shape mix; -1 where the member does not say.
std::vector<std::int64_t> sizes_in_mix(const schema::ModelDescription& model, const std::string& input,
                                       std::size_t axis) {
  std::vector<std::int64_t> sizes;
  for (const auto& member : model.shapes)
    for (const auto& shape : member)
      if (shape.name == input && axis < shape.dims.size()) sizes.push_back(shape.dims[axis]);
  return sizes;
}

/// Of the inputs that the user's function returns.
schema::Message why_rows_differ(const schema::ModelDescription& model) {
  const schema::InputShape* first = nullptr;
  for (const auto& set : model.shapes)
    for (const auto& shape : set) {
      if (shape.dims.empty()) continue;
      if (first == nullptr) first = &shape;
      if (shape.dims[0] != first->dims[0])
        return messages::rows_differ(
            {.first = first->name, .rows = first->dims[0], .other = shape.name, .others = shape.dims[0]});
    }
  return messages::no_first_dimension();
}

}  // namespace

bool knows_model(const SpaceInput& input) { return input.model.nodes > 0; }

bool is_onnxruntime(const SpaceInput& input) { return input.runtime.name == "onnxruntime"; }

bool on_gpu(const SpaceInput& input) { return schema::runs_on_gpu(input.provider); }

bool data_on_device(const SpaceInput& input) { return on_gpu(input) && input.tensor_location == "device"; }

bool is_code(const schema::ModelDescription& model) { return !model.provider.empty(); }

schema::Message why_batch_fixed(const SpaceInput& input) {
  const auto& model = input.model;
  if (model.batch_is_dynamic) return {};
  if (is_code(model)) return why_rows_differ(model);
  if (!knows_model(input)) return {};
  for (const auto& one : model.inputs)
    if (!one.dims.empty() && one.dims[0] >= 0)
      return messages::batch_axis_fixed({.input = one.name, .size = one.dims[0]});
  return messages::no_batch_axis();
}

bool has_any(const schema::ModelDescription& model, std::initializer_list<const char*> operators) {
  return std::any_of(operators.begin(), operators.end(),
                     [&](const char* op) { return model.node_counts.count(op) != 0; });
}

bool has_convolution(const schema::ModelDescription& model) {
  return has_any(model, {"Conv", "ConvTranspose", "FusedConv", "NhwcFusedConv", "QLinearConv", "ConvInteger",
                         "com.microsoft.FusedConv", "com.microsoft.NhwcFusedConv", "com.microsoft.NhwcConv"});
}

bool has_fused_attention(const schema::ModelDescription& model) {
  return has_any(model, {"Attention", "com.microsoft.Attention", "com.microsoft.MultiHeadAttention",
                         "com.microsoft.GroupQueryAttention", "com.microsoft.PackedAttention",
                         "com.microsoft.PackedMultiHeadAttention", "com.microsoft.DecoderMaskedMultiHeadAttention",
                         "com.microsoft.DecoderMaskedSelfAttention", "com.microsoft.LongformerAttention"});
}

bool computes_in_floating_point(const schema::ModelDescription& model) { return any_type(model, is_float); }

bool uses_type(const schema::ModelDescription& model, std::string_view element_type) {
  return any_type(model, [&](std::string_view type) { return type == element_type; });
}

bool shapes_vary(const schema::ModelDescription& model) { return model.shapes.size() > 1; }

bool has_free_dimensions(const schema::ModelDescription& model) {
  return std::any_of(model.inputs.begin(), model.inputs.end(), [](const auto& input) { return input.is_dynamic(); });
}

bool some_free_dimension_is_constant(const schema::ModelDescription& model) {
  for (const auto& input : model.inputs)
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
      const bool named = axis < input.dim_names.size() && !input.dim_names[axis].empty();
      if (input.dims[axis] >= 0 || !named) continue;
      const auto sizes = sizes_in_mix(model, input.name, axis);
      if (std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t size) { return size == sizes.front(); }))
        return true;
    }
  return false;
}

}  // namespace ridgeline::search
