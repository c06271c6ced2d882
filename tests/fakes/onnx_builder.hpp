// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::fakes {

/// A dimension of a declared shape: a number, or a symbolic name ("" for a nameless one).
struct BuilderDim {
  BuilderDim(int size) : value(size) {}                        // NOLINT: dims are written as {1, 3, "H", "W"}
  BuilderDim(const char* symbol) : value(-1), name(symbol) {}  // NOLINT
  std::int64_t value;
  std::string name;
};

/// Writes graphs with ONNX's own protobuf classes:
///   OnnxBuilder().input("x", {"N", 3, 8, 8}).weight("w", {4, 3, 3, 3}).node("Conv", {"x", "w"},
///   {"y"}).output("y").bytes()
class OnnxBuilder {
 public:
  explicit OnnxBuilder(std::int64_t opset = 17) {
    model.set_ir_version(8);
    model.set_producer_name("builder");
    this->opset("", opset);
  }
  OnnxBuilder& opset(const std::string& domain, std::int64_t version) {
    auto* import = model.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
    return *this;
  }
  OnnxBuilder& input(const std::string& name, const std::vector<BuilderDim>& dims,
                     int type = onnx::TensorProto::FLOAT) {
    declare(*model.mutable_graph()->add_input(), name, dims, type);
    return *this;
  }
  OnnxBuilder& output(const std::string& name, const std::vector<BuilderDim>& dims = {},
                      int type = onnx::TensorProto::FLOAT) {
    auto* value = model.mutable_graph()->add_output();
    value->set_name(name);
    if (!dims.empty()) declare(*value, name, dims, type);
    return *this;
  }
  OnnxBuilder& weight(const std::string& name, const std::vector<std::int64_t>& dims) {
    *model.mutable_graph()->add_initializer() = zeros(name, dims);
    return *this;
  }
  OnnxBuilder& integers(const std::string& name, const std::vector<std::int64_t>& values) {
    auto* tensor = model.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::INT64);
    tensor->add_dims(static_cast<std::int64_t>(values.size()));
    for (const auto value : values) tensor->add_int64_data(value);
    return *this;
  }
  OnnxBuilder& node(const std::string& type, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, const std::string& domain = "") {
    last_ = model.mutable_graph()->add_node();
    fill(*last_, type, inputs, outputs, domain);
    return *this;
  }
  OnnxBuilder& ints(const std::string& name, const std::vector<std::int64_t>& values) {
    auto* attribute = add_attribute(name, onnx::AttributeProto::INTS);
    for (const auto value : values) attribute->add_ints(value);
    return *this;
  }
  OnnxBuilder& integer(const std::string& name, std::int64_t value) {
    add_attribute(name, onnx::AttributeProto::INT)->set_i(value);
    return *this;
  }
  OnnxBuilder& text(const std::string& name, const std::string& value) {
    add_attribute(name, onnx::AttributeProto::STRING)->set_s(value);
    return *this;
  }
  OnnxBuilder& graph(const std::string& name, const OnnxBuilder& body) {
    *add_attribute(name, onnx::AttributeProto::GRAPH)->mutable_g() = body.model.graph();
    return *this;
  }
  [[nodiscard]] std::string bytes() const { return model.SerializeAsString(); }

  static onnx::TensorProto zeros(const std::string& name, const std::vector<std::int64_t>& dims) {
    onnx::TensorProto tensor;
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    std::size_t count = 1;
    for (const auto dim : dims) {
      tensor.add_dims(dim);
      count *= static_cast<std::size_t>(dim);
    }
    tensor.set_raw_data(std::string(4 * count, '\0'));
    return tensor;
  }
  static void fill(onnx::NodeProto& node, const std::string& type, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const std::string& domain) {
    node.set_op_type(type);
    node.set_name(type + "_" + (outputs.empty() ? std::string() : outputs.front()));
    node.set_domain(domain);
    for (const auto& name : inputs) node.add_input(name);
    for (const auto& name : outputs) node.add_output(name);
  }

  onnx::ModelProto model;

 private:
  static void declare(onnx::ValueInfoProto& value, const std::string& name, const std::vector<BuilderDim>& dims,
                      int type) {
    value.set_name(name);
    auto* tensor = value.mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    auto* shape = tensor->mutable_shape();
    for (const auto& dim : dims) {
      auto* added = shape->add_dim();
      if (dim.value >= 0) added->set_dim_value(dim.value);
      if (!dim.name.empty()) added->set_dim_param(dim.name);
    }
  }
  onnx::AttributeProto* add_attribute(const std::string& name, onnx::AttributeProto::AttributeType type) {
    auto* attribute = last_->add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return attribute;
  }

  onnx::NodeProto* last_ = nullptr;
};

}  // namespace ridgeline::fakes
