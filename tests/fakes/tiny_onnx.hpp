// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::fakes {

/// The few fields of ONNX's protobuf messages that tests need, written by hand: also models no library would write.
class Message {
 public:
  Message& number(int field, std::int64_t value) {
    tag(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& bytes(int field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    text_.append(value);
    return *this;
  }
  Message& message(int field, const Message& value) { return bytes(field, value.text_); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void tag(int field, int wire) { varint(static_cast<std::uint64_t>(field) << 3U | static_cast<std::uint64_t>(wire)); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) text_ += static_cast<char>(value | 0x80U);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

/// Builds a model: TinyOnnx().input("x", 1, {"N", "4"}).output("y", 1, {"N", "4"}).node("Relu", {"x"},
/// {"y"}).write(path). Element types are TensorProto.DataType numbers; dimensions are sizes or symbolic names.
class TinyOnnx {
 public:
  using Names = std::vector<std::string>;

  TinyOnnx& opset(std::int64_t version) { return opset_ = version, *this; }
  TinyOnnx& ir_version(std::int64_t version) { return ir_version_ = version, *this; }
  TinyOnnx& input(const std::string& name, int type, const Names& dims) {
    return graph_.message(11, value(name, type, dims)), *this;
  }
  TinyOnnx& output(const std::string& name, int type, const Names& dims) {
    return graph_.message(12, value(name, type, dims)), *this;
  }
  /// A sequence of tensors as input or output.
  TinyOnnx& sequence_input(const std::string& name, int type) {
    return graph_.message(11, sequence(name, type)), *this;
  }
  TinyOnnx& sequence_output(const std::string& name, int type) {
    return graph_.message(12, sequence(name, type)), *this;
  }
  TinyOnnx& node(const std::string& op, const Names& inputs, const Names& outputs,
                 const std::vector<Message>& attributes = {}, const std::string& domain = {}) {
    Message node;
    for (const auto& name : inputs) node.bytes(1, name);
    for (const auto& name : outputs) node.bytes(2, name);
    node.bytes(3, op + "_" + outputs.front()).bytes(4, op);
    for (const auto& attribute : attributes) node.message(5, attribute);
    if (!domain.empty()) {
      node.bytes(7, domain);
      domains_.push_back(domain);
    }
    graph_.message(1, node);
    return *this;
  }
  TinyOnnx& floats(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    Message tensor;
    for (const auto dim : dims) tensor.number(1, dim);
    std::string raw(values.size() * sizeof(float), '\0');
    std::memcpy(raw.data(), values.data(), raw.size());
    graph_.message(5, tensor.number(2, 1).bytes(8, name).bytes(9, raw));
    return *this;
  }
  /// A vector of int64.
  TinyOnnx& integers(const std::string& name, const std::vector<std::int64_t>& values) {
    std::string raw(values.size() * sizeof(std::int64_t), '\0');
    std::memcpy(raw.data(), values.data(), raw.size());
    const auto count = static_cast<std::int64_t>(values.size());
    graph_.message(5, Message().number(1, count).number(2, 7).bytes(8, name).bytes(9, raw));
    return *this;
  }
  [[nodiscard]] static Message int_attribute(const std::string& name, std::int64_t number) {
    return Message().bytes(1, name).number(3, number).number(20, 2);
  }

  [[nodiscard]] static Message ints_attribute(const std::string& name, const std::vector<std::int64_t>& numbers) {
    Message attribute;
    attribute.bytes(1, name);
    for (const auto number : numbers) attribute.number(8, number);
    return attribute.number(20, 7);
  }

  [[nodiscard]] std::string bytes() const {
    Message model;
    model.number(1, ir_version_).bytes(2, "tiny_onnx").message(7, Message(graph_).bytes(2, "g"));
    model.message(8, Message().bytes(1, "").number(2, opset_));
    for (const auto& domain : domains_) model.message(8, Message().bytes(1, domain).number(2, 1));
    return model.text();
  }
  std::string write(const std::filesystem::path& path) const {
    std::ofstream(path, std::ios::binary) << bytes();
    return path.string();
  }

 private:
  static Message tensor_type(int type, const Names& dims) {
    Message shape;
    for (const auto& dim : dims) {
      const bool fixed = !dim.empty() && dim.find_first_not_of("0123456789") == std::string::npos;
      shape.message(1, fixed ? Message().number(1, std::stoll(dim)) : Message().bytes(2, dim));
    }
    return Message().message(1, Message().number(1, type).message(2, shape));
  }
  static Message value(const std::string& name, int type, const Names& dims) {
    return Message().bytes(1, name).message(2, tensor_type(type, dims));
  }
  static Message sequence(const std::string& name, int type) {
    return Message().bytes(1, name).message(2, Message().message(4, Message().message(1, tensor_type(type, {}))));
  }
  Message graph_;
  std::vector<std::string> domains_;
  std::int64_t opset_ = 17;
  std::int64_t ir_version_ = 8;
};

}  // namespace ridgeline::fakes
