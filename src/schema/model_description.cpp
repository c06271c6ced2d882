// SPDX-License-Identifier: Apache-2.0
#include "schema/model_description.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(TensorDescription, name, element_type, dims, dim_names)
RL_DEFINE_JSON(ModelDescription, path, sha256, file_bytes, external_data_bytes, producer, provider, ir_version, opsets,
               inputs, outputs, node_counts, nodes, parameters, parameter_bytes, parameter_types, flops, min_bytes,
               flops_by_op, uncounted_ops, shapes, shape_notes, notes, has_control_flow, batch_axis_size,
               batch_is_dynamic, one_dimensional_convolutions)

}  // namespace ridgeline::schema
