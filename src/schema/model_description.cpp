// SPDX-License-Identifier: Apache-2.0
#include "schema/model_description.hpp"

namespace ridgeline::schema {
namespace {

/// What every description has.
struct Described : ModelDescription {};
RL_DEFINE_JSON(Described, path, sha256, file_bytes, external_data_bytes, producer, provider, ir_version, opsets, inputs,
               outputs, node_counts, nodes, parameters, parameter_bytes, parameter_types, flops, min_bytes, flops_by_op,
               uncounted_ops, shapes, shape_notes, input_values, input_notes, notes, has_control_flow, batch_axis_size,
               batch_is_dynamic, one_dimensional_convolutions)

}  // namespace

RL_DEFINE_JSON(TensorDescription, name, element_type, dims, dim_names)
RL_DEFINE_JSON(PythonForm, returned, inputs, several)

void to_json(base::Json& out, const ModelDescription& model) {
  Described described;
  static_cast<ModelDescription&>(described) = model;
  to_json(out, described);
  if (model.python_form) out["python_form"] = *model.python_form;
  if (model.four_dimensional) out["four_dimensional"] = *model.four_dimensional;
  if (!model.random_nodes.empty()) out["random_nodes"] = model.random_nodes;
}

void from_json(const base::Json& in, ModelDescription& model) {
  Described described;
  from_json(in, described);
  model = std::move(described);
  if (const auto form = in.find("python_form"); form != in.end()) form->get_to(model.python_form.emplace());
  if (const auto known = in.find("four_dimensional"); known != in.end()) model.four_dimensional = known->get<bool>();
  if (const auto nodes = in.find("random_nodes"); nodes != in.end()) nodes->get_to(model.random_nodes);
}

}  // namespace ridgeline::schema
