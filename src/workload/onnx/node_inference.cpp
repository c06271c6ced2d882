// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/node_inference.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <set>

#include "workload/onnx/model_census.hpp"
#include "workload/onnx/node_attributes.hpp"
#include "workload/onnx/node_gate.hpp"

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
      result.outcome = gate.gate == Gate::misfit || (gate.gate == Gate::refused && !newer) ? RuleOutcome::contradiction
                                                                                           : RuleOutcome::inferred;
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
