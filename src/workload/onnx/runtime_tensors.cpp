// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/runtime_tensors.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

constexpr int kSummand = 3;                    // input of a convolution: what is added to its result
constexpr std::string_view kFused = "fused ";  // before the name of a convolution with its activation

/// Of names that differ by it, "Add_1" is another node than "Add".
bool is_a_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

RuntimeTensors::RuntimeTensors(const ModelGraph& model, const onnx::GraphProto& optimized) : model_(model) {
  for (const auto& node : optimized.node()) kept_.insert(node.name());
  for (auto node = optimized.node().rbegin(); node != optimized.node().rend(); ++node) {
    if (!passes_through(*node)) continue;
    if (const auto& tensor = model_tensor(node->output(0)); !tensor.empty() && model_tensor(node->input(0)).empty())
      aliases_.emplace(node->input(0), tensor);
  }
  for (const auto& node : optimized.node()) {
    learn_forward(node);
    for (const auto& output : node.output()) made_.insert(model_tensor(output));
  }
}

const std::string& RuntimeTensors::model_tensor(const std::string& name) const {
  static const std::string none;
  if (model_.has_tensor(name)) return name;
  const auto alias = aliases_.find(name);
  return alias == aliases_.end() ? none : alias->second;
}

void RuntimeTensors::learn_forward(const onnx::NodeProto& node) {
  const bool passes = passes_through(node);
  const auto origin = passes ? Origin{} : origin_of(node);
  for (int i = 0; i < node.output_size(); ++i) {
    const auto& output = node.output(i);
    if (output.empty() || !model_tensor(output).empty()) continue;
    if (passes && !model_tensor(node.input(0)).empty())
      aliases_[output] = model_tensor(node.input(0));
    else if (i == 0 && !origin.tensor.empty())
      aliases_[output] = behind_epilogue(node, origin.tensor);
    else if (origin.node != nullptr && origin.tensor.empty() && i < origin.node->output_size())
      aliases_[output] = behind_epilogue(node, origin.node->output(i));
  }
}

std::string RuntimeTensors::behind_epilogue(const onnx::NodeProto& node, std::string tensor) const {
  const auto* next = model_.consumer(tensor);
  if (node.input_size() > kSummand && next != nullptr) {
    const auto& summand = model_tensor(node.input(kSummand));
    const auto& inputs = next->input();
    if (!summand.empty() && std::find(inputs.begin(), inputs.end(), summand) != inputs.end()) {
      tensor = next->output(0);
      next = model_.consumer(tensor);
    }
  }
  const auto activation = attribute_text(node, "activation", "");
  const auto* maker = model_.producer(tensor);
  const bool has_it = maker != nullptr && maker->op_type() == activation;
  return next != nullptr && !has_it && next->op_type() == activation ? next->output(0) : tensor;
}

bool RuntimeTensors::passes_through(const onnx::NodeProto& node) const {
  static constexpr std::array<std::string_view, 7> kForms{"Reshape", "Transpose",      "Cast",        "Identity",
                                                          "Squeeze", "MemcpyFromHost", "MemcpyToHost"};
  const auto& type = node.op_type();
  if (node.input_size() == 0 || node.output_size() == 0) return false;
  if (type.rfind("Reorder", 0) == 0) return true;
  return std::find(kForms.begin(), kForms.end(), type) != kForms.end() && named_after(node) == nullptr;
}

const onnx::NodeProto* RuntimeTensors::named_after(const onnx::NodeProto& node) const { return origin_of(node).node; }

RuntimeTensors::Origin RuntimeTensors::origin_of(const onnx::NodeProto& node) const {
  auto name = node.name();
  if (name.empty()) return {};
  if (const auto* same = model_.named(name); same != nullptr) return {same};
  if (name.rfind(kFused, 0) == 0) name.erase(0, kFused.size());
  for (auto end = name.size(); end > 0 && end != std::string::npos; end = name.find_last_of("_/", end - 1)) {
    const auto stem = name.substr(0, end);
    if (end < name.size() && is_a_number(std::string_view(name).substr(end + 1))) continue;
    // What the runtime kept is itself, and not this one too.
    if (const auto* found = model_.named(stem); found != nullptr && kept_.count(stem) == 0) return {found};
    if (const auto* maker = model_.producer(stem); maker != nullptr) return {maker, stem};
  }
  return {};
}

}  // namespace ridgeline::workload
