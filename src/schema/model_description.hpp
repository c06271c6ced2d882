// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/message.hpp"
#include "schema/workload_ref.hpp"

namespace ridgeline::schema {

/// A model input or output. A dimension is a fixed size, or -1 with its symbolic name (possibly "") in dim_names.
struct TensorDescription {
  std::string name;
  std::string element_type;  ///< "float", "float16", "int64", "bool", "string", ...
  std::vector<std::int64_t> dims;
  std::vector<std::string> dim_names;  ///< as long as dims; "" where fixed or nameless
  [[nodiscard]] bool is_dynamic() const {
    for (const auto dim : dims)
      if (dim < 0) return true;
    return false;
  }
};
RL_DECLARE_JSON(TensorDescription)

/// How a Python function returns its model and inputs.
struct PythonForm {
  std::string returned = "pair";  ///< "pair" (model, inputs), "triple" (and a metric), or "dict" with these keys
  /// What each input set is: "tensor", "tensors" (a tuple of nothing else), "tuple", "dict", or "mixed" where sets
  /// differ.
  std::string inputs = "tensor";
  bool several = false;  ///< a list of input sets
};
RL_DECLARE_JSON(PythonForm)

/// What can be said of a model without running it. FLOPs and bytes hold for `shapes`.
struct ModelDescription {
  std::string path;
  std::string sha256;  ///< of the model and its external data
  std::int64_t file_bytes = 0;
  std::int64_t external_data_bytes = 0;
  std::string producer;
  std::string provider;  ///< ExecutionProvider::id of the only one that runs it as it is; "": any
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;  ///< domain ("" = ai.onnx) to version
  std::vector<TensorDescription> inputs;       ///< without initializers
  std::vector<TensorDescription> outputs;
  std::map<std::string, std::int64_t> node_counts;  ///< by operator type, subgraphs included
  std::int64_t nodes = 0;
  std::int64_t parameters = 0;
  std::int64_t parameter_bytes = 0;
  std::map<std::string, std::int64_t> parameter_types;  ///< elements by element type
  double flops = 0;                                     ///< per inference, multiply and add counted as two
  double min_bytes =
      0;  ///< per inference: parameters, inputs and outputs once, plus activations once written and once read
  std::map<std::string, double> flops_by_op;
  std::map<std::string, std::int64_t> uncounted_ops;   ///< operators whose FLOPs are unknown, by type
  std::vector<ShapeSet> shapes;                        ///< the concrete shapes chosen
  std::vector<Message> shape_notes;                    ///< how each dynamic dimension was chosen
  std::vector<std::vector<InputValues>> input_values;  ///< WorkloadRef::input_values
  std::vector<Message> input_notes;                    ///< how values of generated inputs were chosen
  std::vector<Message> notes;                   ///< e.g. shape inference stopped at an operator newer than we know
  bool has_control_flow = false;                ///< If, Loop or Scan
  std::optional<std::int64_t> batch_axis_size;  ///< the batch in `shapes`; nullopt when no batch axis is recognised
  bool batch_is_dynamic = false;
  std::int64_t one_dimensional_convolutions = 0;  ///< of the convolutions among the nodes
  std::optional<PythonForm> python_form{};        ///< of a Python function's model
  std::optional<bool> four_dimensional{};         ///< of such a model: some weight or input has four dimensions
  /// Nodes that draw random numbers, `RandomNormalLike "noise"`, those of subgraphs and functions included.
  std::vector<std::string> random_nodes{};
};
/// Without `python_form`, `four_dimensional` and `random_nodes` where there are none.
void to_json(base::Json& out, const ModelDescription& model);
void from_json(const base::Json& in, ModelDescription& model);

}  // namespace ridgeline::schema
