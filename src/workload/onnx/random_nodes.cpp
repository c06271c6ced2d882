// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/random_nodes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "workload/onnx/model_census.hpp"
#include "workload/onnx/model_walk.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

constexpr std::array<std::string_view, 7> kRandom{"RandomNormal",          "RandomNormalLike", "RandomUniform",
                                                  "RandomUniformLike",     "Multinomial",      "Bernoulli",
                                                  "com.microsoft.Sampling"};
constexpr std::array<std::string_view, 5> kDropouts{"Dropout", "com.microsoft.Dropout", "com.microsoft.BiasDropout",
                                                    "com.microsoft.BitmaskDropout", "com.microsoft.BitmaskBiasDropout"};

template <typename Names>
bool is_one_of(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Of a scalar of truth values; nullopt: of another tensor.
std::optional<bool> truth(const onnx::TensorProto& tensor) {
  if (tensor.data_type() != onnx::TensorProto::BOOL) return std::nullopt;
  if (tensor.int32_data_size() == 1) return tensor.int32_data(0) != 0;
  if (tensor.raw_data().size() == 1) return tensor.raw_data()[0] != 0;
  return std::nullopt;
}

/// Scalars of truth values by name; of a name that several scopes use, true where it is in one.
class Truths {
 public:
  explicit Truths(const onnx::ModelProto& model) {
    ModelVisitor visitor;
    visitor.tensor = [&](const onnx::TensorProto& tensor, TensorRole role) {
      if (role == TensorRole::initializer) add(tensor.name(), tensor);
    };
    visitor.node = [&](const onnx::NodeProto& node) {
      if (node.op_type() != "Constant" || node.output_size() != 1) return;
      if (const auto* value = find_attribute(node, "value")) add(node.output(0), value->t());
    };
    walk_model(model, visitor);
  }

  [[nodiscard]] bool may_be_true(const std::string& name) const {
    const auto found = truths_.find(name);
    return found == truths_.end() || found->second;
  }

 private:
  void add(const std::string& name, const onnx::TensorProto& tensor) {
    if (const auto value = truth(tensor)) truths_[name] = truths_[name] || *value;
  }
  std::map<std::string, bool> truths_;
};

/// Its training mode is the last input: behind data and ratio, and behind bias and residual of the fused ones. Before
/// opset 7 `is_test` said it, and from there to opset 12 nothing did: dropout was for inference.
bool drops_at_random(const onnx::NodeProto& node, const Truths& truths, std::int64_t opset) {
  const bool fused = node.op_type().find("Bias") != std::string::npos;
  const int at = fused ? 4 : 2;
  if (normal_domain(node.domain()).empty() && opset < 12) return opset < 7 && attribute_int(node, "is_test", 0) == 0;
  return node.input_size() > at && !node.input(at).empty() && truths.may_be_true(node.input(at));
}

std::string title(const onnx::NodeProto& node) {
  const auto& name = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
  const auto* seed = find_attribute(node, "seed");
  return operator_name(node) + (name.empty() ? "" : " \"" + name + "\"") +
         (seed != nullptr ? fmt::format(" (seed {:g})", seed->f()) : "");
}

}  // namespace

std::vector<std::string> random_nodes(const onnx::ModelProto& model) {
  const Truths truths(model);
  std::int64_t opset = 1;
  for (const auto& import : model.opset_import())
    if (normal_domain(import.domain()).empty()) opset = import.version();
  std::vector<std::string> found;
  ModelVisitor visitor;
  visitor.node = [&](const onnx::NodeProto& node) {
    const auto name = operator_name(node);
    if (is_one_of(kRandom, name) || (is_one_of(kDropouts, name) && drops_at_random(node, truths, opset)))
      found.push_back(title(node));
  };
  walk_model(model, visitor);
  return found;
}

}  // namespace ridgeline::workload
