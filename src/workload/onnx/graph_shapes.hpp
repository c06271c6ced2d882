// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schema/workload_ref.hpp"
#include "workload/onnx/onnx_proto.hpp"
#include "workload/onnx/small_tensor.hpp"
#include "workload/onnx/value_origin.hpp"

namespace ridgeline::workload {

/// One node as it runs, with the types of its values; a null type is unknown, or that of an input left out.
struct TypedNode {
  const onnx::NodeProto& node;
  std::vector<const onnx::TypeProto*> inputs;
  std::vector<const onnx::TypeProto*> outputs;
  double repeats = 1;               ///< runs per inference: trip counts of the loops around it
  bool folded = false;              ///< its result is known beforehand: shape arithmetic and constants
  std::vector<KnownInput> known{};  ///< the inputs again, with their values and origins
};

/// What stood in the way of knowing every shape.
struct ShapeReport {
  std::vector<std::string> contradictions;                ///< nodes that refuse their input shapes, at most a few
  std::map<std::string, std::int64_t> unknown_operators;  ///< without shape rule here: newer opset or custom domain
  std::int64_t shapeless_nodes = 0;                       ///< nodes with an output of unknown shape
  bool unknown_trip_count = false;                        ///< a Loop or Scan whose number of rounds only data decide
  bool unknown_branch = false;                            ///< an If that data decide: its larger branch is not known
};

/// Goes through the model's graph in order with the given input shapes and calls `visit` for every node that would
/// run, inside local functions, loop bodies and branches too. Shapes come from libonnx's rules node by node, with
/// values computed for shape arithmetic; where a rule is missing, from the model's own value_info or from an operator
/// that behaves the same. Of an If whose condition is unknown both branches are visited, each with half a run.
/// Never fails: what is not known stays null. May throw what libonnx throws beside its own inference errors.
ShapeReport infer_shapes(const onnx::ModelProto& model, const schema::ShapeSet& shapes,
                         const std::function<void(const TypedNode&)>& visit);

/// What else a walk is given and tells.
struct WalkOptions {
  std::map<std::string, SmallTensor> values{};           ///< of the model's inputs, where they are known
  std::function<void(const TypedNode&)> open_control{};  ///< an If or Loop that data decide, before its bodies
};
ShapeReport infer_shapes(const onnx::ModelProto& model, const schema::ShapeSet& shapes,
                         const std::function<void(const TypedNode&)>& visit, const WalkOptions& options);

/// The dimensions of a tensor type when every one is known.
[[nodiscard]] std::optional<std::vector<std::int64_t>> concrete_dims(const onnx::TypeProto* type);

}  // namespace ridgeline::workload
