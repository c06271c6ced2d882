// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/message.hpp"
#include "schema/workload_ref.hpp"
#include "workload/messages.hpp"
#include "workload/onnx/graph_shapes.hpp"
#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

enum class UseKind {
  argument,   ///< a shape, axis, length ... that has to be `exact`
  index,      ///< anything from low to high
  count,      ///< rounds of a loop: `exact` where nothing bounds it, else as many as there are
  mask,       ///< `exact` hides nothing
  divisor,    ///< anything but 0, for example `exact`
  condition,  ///< `exact` takes the then branch, `otherwise` the else branch
  compared,   ///< with the constant `exact`: tells a condition's other value
};

/// What one operator asks of the values x of an input, or of one of its elements.
struct InputUse {
  std::string input;
  int element = Strand::kAnyElement;
  UseKind kind = UseKind::argument;
  double exact = 0;
  double otherwise = 0;
  double low = 0;
  double high = 0;
  schema::Message reason;              ///< "indices of 30522 rows (Gather "emb")"; of a condition: its then branch
  schema::Message otherwise_reason{};  ///< of a condition: its else branch
};

/// What the operators that integers, bools and small arguments reach ask of them with these shapes.
[[nodiscard]] std::vector<InputUse> collect_input_uses(const onnx::ModelProto& model, const schema::ShapeSet& shapes);

/// Gathers what the handlers of operators find.
class UseCollector {
 public:
  explicit UseCollector(std::vector<InputUse>& uses) : uses_(uses) {}

  /// Values of the node's input lie from low to high.
  void bound(const TypedNode& node, std::size_t input, double low, double high, const schema::Message& reason);
  /// Elements of the node's input, in order, are these; a single one holds for all. nullopt: nothing is asked.
  void want(const TypedNode& node, std::size_t input, const std::vector<std::optional<double>>& values,
            const schema::Message& reason, UseKind kind = UseKind::argument);
  void want(const TypedNode& node, std::size_t input, double value, const schema::Message& reason,
            UseKind kind = UseKind::argument) {
    want(node, input, std::vector<std::optional<double>>{value}, reason, kind);
  }
  /// The node's input, as a truth, is `wanted` for all of it.
  void want_truth(const TypedNode& node, std::size_t input, bool wanted, const schema::Message& reason, UseKind kind);
  void add(const Strand& strand, InputUse use);

 private:
  std::vector<InputUse>& uses_;
};

/// Its name, or the one of its result.
[[nodiscard]] const std::string& node_name(const onnx::NodeProto& node);

/// "the shape that Reshape "y" takes".
[[nodiscard]] schema::Message argument_of(const onnx::NodeProto& node, messages::InputArgumentWhat what,
                                          std::int64_t values = 0);

/// The origin of a node's input when values of model inputs are in it, else nullptr.
[[nodiscard]] const Origin* strands_of(const TypedNode& node, std::size_t input);
[[nodiscard]] std::optional<std::vector<std::int64_t>> dims_of(const TypedNode& node, std::size_t input);
[[nodiscard]] std::optional<std::int64_t> size_of_axis(const TypedNode& node, std::size_t input, std::int64_t axis);
/// Sizes of the first output as far as they are known; empty: not even the rank is.
[[nodiscard]] std::vector<std::optional<std::int64_t>> output_sizes(const TypedNode& node);

/// Indices of rows, in operators by their full names.
void collect_index_uses(const TypedNode& node, const std::string& name, UseCollector& collector);
/// Lengths of sequences.
void collect_length_uses(const TypedNode& node, const std::string& name, UseCollector& collector);
void collect_mask_uses(const TypedNode& node, const std::string& name, UseCollector& collector);
/// Divisors, bits to shift by, and what a value is compared with.
void collect_divisor_uses(const TypedNode& node, const std::string& name, UseCollector& collector);
/// Arguments that say shapes, axes, sizes and counts.
void collect_argument_uses(const TypedNode& node, UseCollector& collector);

}  // namespace ridgeline::workload
