// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/node_inference.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <set>

#include "workload/onnx/graph_shapes.hpp"
#include "workload/onnx/model_census.hpp"
#include "workload/onnx/node_attributes.hpp"

#include <onnx/defs/schema.h>

namespace ridgeline::workload {
namespace {

using onnx::TypeProto;

/// Runs a body graph when libonnx's rule for a control-flow operator asks for it.
class SubgraphInferencer final : public onnx::GraphInferencer {
 public:
  SubgraphInferencer(const onnx::GraphProto& graph, const SubgraphInference& inference)
      : graph_(graph), inference_(inference) {}
  std::vector<const TypeProto*> doInferencing(const std::vector<const TypeProto*>& types,
                                              const std::vector<const onnx::TensorProto*>&) override {
    return inference_(graph_, types);
  }

 private:
  const onnx::GraphProto& graph_;
  const SubgraphInference& inference_;
};

class NodeContext final : public onnx::InferenceContext {
 public:
  NodeContext(const onnx::NodeProto& node, const std::vector<const TypeProto*>& types,
              const std::vector<const onnx::TensorProto*>& values, const SubgraphInference& subgraph)
      : node_(node),
        types_(types),
        values_(values),
        subgraph_(subgraph),
        outputs(static_cast<std::size_t>(node.output_size())) {}

  const onnx::AttributeProto* getAttribute(const std::string& name) const override {
    return find_attribute(node_, name);
  }
  size_t getNumInputs() const override { return types_.size(); }
  const TypeProto* getInputType(size_t index) const override { return index < types_.size() ? types_[index] : nullptr; }
  const onnx::TensorProto* getInputData(size_t index) const override {
    return index < values_.size() ? values_[index] : nullptr;
  }
  size_t getNumOutputs() const override { return outputs.size(); }
  TypeProto* getOutputType(size_t index) override { return &outputs.at(index); }
  const onnx::SparseTensorProto* getInputSparseData(size_t) const override { return nullptr; }
  const onnx::TensorShapeProto* getSymbolicInput(size_t) const override { return nullptr; }
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
    const auto* attribute = find_attribute(node_, name);
    if (attribute == nullptr || !attribute->has_g())
      throw onnx::InferenceError("attribute " + name + " holds no graph");
    inferencers_.push_back(std::make_unique<SubgraphInferencer>(attribute->g(), subgraph_));
    return inferencers_.back().get();
  }

 private:
  const onnx::NodeProto& node_;
  const std::vector<const TypeProto*>& types_;
  const std::vector<const onnx::TensorProto*>& values_;
  const SubgraphInference& subgraph_;
  std::vector<std::unique_ptr<SubgraphInferencer>> inferencers_;

 public:
  std::vector<TypeProto> outputs;
};

/// Rules that exist under another name: fused operators of ONNX Runtime, and reductions whose axes became an input
/// with opset 18, as ReduceSum's did with 13 (libonnx 1.12 knows opset 17).
struct Alias {
  std::string type;
  std::string domain;
  int version;
};

constexpr int kNewestKnownOpset = 17;

Alias rule_of(const onnx::NodeProto& node, int version) {
  const auto& type = node.op_type();
  const auto domain = normal_domain(node.domain());
  if (domain == "com.microsoft") {
    if (type == "FusedConv") return {"Conv", "", 11};
    if (type == "FusedGemm") return {"Gemm", "", 13};
    if (type == "FusedMatMul" && attribute_int(node, "transA", 0) == 0 && attribute_int(node, "transB", 0) == 0 &&
        attribute_int(node, "transBatchA", 0) == 0 && attribute_int(node, "transBatchB", 0) == 0)
      return {"MatMul", "", 13};
  }
  static const std::set<std::string> kMovedAxes = {"ReduceMax",    "ReduceMin",       "ReduceMean",
                                                   "ReduceProd",   "ReduceL1",        "ReduceL2",
                                                   "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};
  if (domain.empty() && version >= 18 && kMovedAxes.count(type) != 0) return {"ReduceSum", "", 13};
  return {type, domain, version};
}

/// What keeps a node from libonnx's rule, which trusts much of what a valid model guarantees.
enum class Gate {
  open,
  unknown,  ///< something that the rule reads is not known
  refused,  ///< the node breaks its operator's definition
};

struct GateResult {
  Gate gate = Gate::open;
  std::string reason;
};

int rank_of(const TypeProto* type) {
  return type != nullptr && type->has_tensor_type() ? type->tensor_type().shape().dim_size() : -1;
}

/// Attributes that rules divide by.
GateResult check_divisors(const onnx::NodeProto& node) {
  for (const char* name : {"strides", "dilations", "kernel_shape", "stride", "blocksize", "group", "num_heads"}) {
    const auto* attribute = find_attribute(node, name);
    if (attribute == nullptr) continue;
    const auto& sizes = attribute->ints();
    if (std::any_of(sizes.begin(), sizes.end(), [](auto size) { return size < 1; }) ||
        (attribute->has_i() && attribute->i() < 1))
      return {Gate::refused, fmt::format("{} is not positive", name)};
  }
  return {};
}

/// Inputs must be of a kind that the operator takes, and tensors must have a rank.
GateResult check_input_types(const onnx::OpSchema& schema, const std::vector<const TypeProto*>& types) {
  const auto& formals = schema.inputs();
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == nullptr) {
      if (i < static_cast<std::size_t>(schema.min_input())) return {Gate::unknown, ""};
      continue;
    }
    if (types[i]->value_case() == TypeProto::VALUE_NOT_SET) return {Gate::unknown, ""};
    if (types[i]->has_tensor_type() && !types[i]->tensor_type().has_shape()) return {Gate::unknown, ""};
    if (formals.empty()) continue;
    const auto& allowed = formals[std::min(i, formals.size() - 1)].GetTypes();
    if (!allowed.empty() && allowed.count(onnx::Utils::DataTypeUtils::ToType(*types[i])) == 0)
      return {Gate::refused, fmt::format("input {} has a type that it does not take", i)};
  }
  return {};
}

/// Convolutions index the weights' dimensions by the data's rank.
GateResult check_ranks(const onnx::NodeProto& node, const std::string& rule,
                       const std::vector<const TypeProto*>& types) {
  static const std::map<std::string, std::size_t> kWeights = {
      {"Conv", 1}, {"ConvTranspose", 1}, {"ConvInteger", 1}, {"QLinearConv", 3}};
  const auto weight = kWeights.find(rule);
  if (weight == kWeights.end()) return {};
  const int rank = rank_of(types[0]);
  if (rank < 3 || rank_of(types[weight->second]) != rank) return {Gate::refused, "data and weights differ in rank"};
  for (const char* name : {"strides", "dilations", "kernel_shape", "output_padding", "output_shape"})
    if (const auto sizes = attribute_ints(node, name); sizes && static_cast<int>(sizes->size()) != rank - 2)
      return {Gate::refused, fmt::format("{} has {} sizes for {} spatial axes", name, sizes->size(), rank - 2)};
  return {};
}

/// Axes index the first input's dimensions, or those of the result where an operator adds some.
GateResult check_axes(const onnx::NodeProto& node, const std::vector<const TypeProto*>& types) {
  const int rank = types.empty() ? -1 : rank_of(types[0]);
  if (rank < 0) return {};
  // Their default axis, -1, needs a dimension.
  if (rank == 0 && (node.op_type() == "LayerNormalization" || node.op_type() == "TopK" || node.op_type() == "Split"))
    return {Gate::refused, "a scalar has no axis"};
  for (const char* name : {"axis", "batch_axis", "time_axis", "batch_dims", "axes", "perm"}) {
    const auto* attribute = find_attribute(node, name);
    if (attribute == nullptr) continue;
    std::vector<std::int64_t> axes(attribute->ints().begin(), attribute->ints().end());
    if (attribute->has_i()) axes.push_back(attribute->i());
    const auto& type = node.op_type();
    std::int64_t limit = std::max(rank, 1);
    if (type == "Unsqueeze") limit = rank + attribute->ints_size();
    if (type == "OneHot") limit = rank + 1;
    const std::int64_t above = type == "Flatten" ? 1 : 0;
    for (const auto axis : axes)
      if (axis < -limit || axis >= limit + above)
        return {Gate::refused, fmt::format("{} {} is outside a tensor of rank {}", name, axis, rank)};
  }
  return {};
}

/// A window that is larger than what it moves over; libonnx computes with the negative size.
GateResult check_windows(const onnx::NodeProto& node, const std::string& rule,
                         const std::vector<const TypeProto*>& types) {
  const auto padding = attribute_text(node, "auto_pad", "NOTSET");
  if ((padding != "NOTSET" && padding != "VALID") || rank_of(types[0]) < 3) return {};
  auto kernel = attribute_ints(node, "kernel_shape");
  const auto weights = types.size() > 1 ? concrete_dims(types[1]) : std::nullopt;
  if (!kernel && rule == "Conv" && weights && weights->size() > 2)
    kernel = std::vector<std::int64_t>(weights->begin() + 2, weights->end());
  if (!kernel) return {};
  const auto pads = attribute_ints(node, "pads");
  const auto dilations = attribute_ints(node, "dilations");
  const auto spatial = kernel->size();
  const auto& shape = types[0]->tensor_type().shape();
  for (std::size_t at = 0; at < spatial && static_cast<int>(at) + 2 < shape.dim_size(); ++at) {
    const auto& dim = shape.dim(static_cast<int>(at) + 2);
    if (!dim.has_dim_value()) continue;
    const auto padded =
        dim.dim_value() + (pads && pads->size() == 2 * spatial ? (*pads)[at] + (*pads)[at + spatial] : 0);
    const auto window = (dilations && at < dilations->size() ? (*dilations)[at] : 1) * ((*kernel)[at] - 1) + 1;
    if (window > padded)
      return {Gate::refused, fmt::format("its window of {} is larger than its input of {}", window, padded)};
  }
  return {};
}

/// libonnx looks at the input alone; the first states have its batch.
GateResult check_states(const onnx::NodeProto& node, const std::vector<const TypeProto*>& types) {
  if (attribute_int(node, "layout", 0) != 0 || rank_of(types[0]) != 3) return {};
  const auto& batch = types[0]->tensor_type().shape().dim(1);
  for (std::size_t state = 5; state < std::min<std::size_t>(types.size(), 7); ++state) {
    if (rank_of(types[state]) != 3) continue;
    const auto& own = types[state]->tensor_type().shape().dim(1);
    if (batch.has_dim_value() && own.has_dim_value() && batch.dim_value() != own.dim_value())
      return {Gate::refused,
              fmt::format("its input has a batch of {}, its state of {}", batch.dim_value(), own.dim_value())};
  }
  return {};
}

GateResult check_scan(const onnx::NodeProto& node, const std::vector<const TypeProto*>& types) {
  const auto* body = find_attribute(node, "body");
  const auto scanned = attribute_int(node, "num_scan_inputs", 0);
  if (body == nullptr || !body->has_g() || body->g().output_size() != node.output_size() || scanned < 1 ||
      scanned > node.input_size())
    return {Gate::refused, "its body and its inputs and outputs differ in number"};
  for (auto i = types.size() - static_cast<std::size_t>(scanned); i < types.size(); ++i)
    if (rank_of(types[i]) < 1) return {Gate::refused, "a scanned input has no dimensions"};
  return {};
}

GateResult check_gate(const onnx::NodeProto& node, const std::string& rule, const onnx::OpSchema& schema,
                      const std::vector<const TypeProto*>& types) {
  if (node.input_size() < schema.min_input() || node.input_size() > schema.max_input() ||
      node.output_size() < schema.min_output() || node.output_size() > schema.max_output())
    return {Gate::refused, fmt::format("it has {} inputs and {} outputs", node.input_size(), node.output_size())};
  if (rule == "SequenceMap") return {Gate::unknown, ""};  // its rule reads the body's inputs without counting them
  if (auto result = check_divisors(node); result.gate != Gate::open) return result;
  if (auto result = check_input_types(schema, types); result.gate != Gate::open) return result;
  if (rule == "Scan" && schema.since_version() >= 9)
    if (auto result = check_scan(node, types); result.gate != Gate::open) return result;
  if (rule == "Conv" || rule == "MaxPool" || rule == "AveragePool")
    if (auto result = check_windows(node, rule, types); result.gate != Gate::open) return result;
  if (rule == "LSTM" || rule == "GRU" || rule == "RNN")
    if (auto result = check_states(node, types); result.gate != Gate::open) return result;
  if (auto result = check_axes(node, types); result.gate != Gate::open) return result;
  return check_ranks(node, rule, types);
}

/// libonnx's texts carry a tag and sometimes line breaks.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (const auto end = text.find("Error] "); end != std::string::npos) text.erase(0, end + 7);
  if (text.size() > 200) text.resize(200);
  return text;
}

}  // namespace

RuleResult apply_shape_rule(const onnx::NodeProto& node, const std::map<std::string, std::int64_t>& opsets,
                            const std::vector<const TypeProto*>& types,
                            const std::vector<const onnx::TensorProto*>& values, const SubgraphInference& subgraph) {
  const auto opset = opsets.find(normal_domain(node.domain()));
  const auto version =
      static_cast<int>(std::clamp<std::int64_t>(opset == opsets.end() ? 1 : opset->second, 1, 1 << 20));
  const auto alias = rule_of(node, version);
  RuleResult result;
  const auto* schema = onnx::OpSchemaRegistry::Schema(alias.type, alias.version, alias.domain);
  if (schema == nullptr || schema->deprecated()) return result;
  result.outputs.resize(static_cast<std::size_t>(node.output_size()));
  NodeContext context(node, types, values, subgraph);
  try {
    if (const auto gate = check_gate(node, alias.type, *schema, types); gate.gate != Gate::open) {
      // Newer opsets add types, inputs and attributes to operators: no contradiction there.
      const bool newer = alias.domain.empty() && version > kNewestKnownOpset;
      result.outcome = gate.gate == Gate::refused && !newer ? RuleOutcome::contradiction : RuleOutcome::inferred;
      result.message = gate.reason;
      return result;
    }
    if (alias.type == node.op_type() && version <= kNewestKnownOpset) schema->Verify(node);
    schema->GetTypeAndShapeInferenceFunction()(context);
    result.outcome = RuleOutcome::inferred;
  } catch (const std::exception& error) {
    result.outcome = RuleOutcome::contradiction;
    result.message = one_line(error.what());
  }
  result.outputs = std::move(context.outputs);
  return result;
}

}  // namespace ridgeline::workload
