// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "workload/onnx/onnx_proto.hpp"
#include "workload/onnx/small_tensor.hpp"

namespace ridgeline::workload {

/// A comparison that a value went through.
enum class Test { none, nonzero, equal, less, greater };

/// How a value inside the graph follows from one of the model's inputs, x: scale * x + offset, perhaps compared.
struct Strand {
  static constexpr int kAnyElement = -1;
  std::string input;
  int element = kAnyElement;  ///< of a short vector
  double scale = 1;
  double least_offset = 0;  ///< differs from the other where a constant with several values was added
  double most_offset = 0;
  double low = -std::numeric_limits<double>::infinity();  ///< x beyond these changes nothing: a clip or a modulo
  double high = std::numeric_limits<double>::infinity();
  Test test = Test::none;
  double threshold = 0;
  bool inverted = false;  ///< the opposite of the test

  [[nodiscard]] double value(double x) const { return scale * x + most_offset; }
  /// What the test says of x; without one whether the value is not 0.
  [[nodiscard]] bool truth(double x) const;
  /// Some whole x for which truth(x) is `wanted`, preferably 1 or 0.
  [[nodiscard]] std::optional<double> solve(bool wanted) const;
};

/// One element of a short vector or scalar.
struct Element {
  std::optional<double> value;
  std::optional<Strand> strand;
};

/// Where a value comes from. Without strands it does not depend on the values of inputs in a way that is followed.
struct Origin {
  std::vector<Strand> strands;    ///< of any of its elements
  std::vector<Element> elements;  ///< of a vector of at most kMostElements; empty: not known apart
  bool counts = false;            ///< 0, 1, 2 ... along an axis: a Range
};

constexpr std::size_t kMostElements = 15;

/// What is known of a node's input.
struct KnownInput {
  const onnx::TypeProto* type = nullptr;
  const SmallTensor* value = nullptr;
  const Origin* origin = nullptr;
};

/// The origin of one of the model's own inputs.
[[nodiscard]] Origin origin_of_input(const std::string& name, const onnx::TypeProto& type);

/// Origins of a node's outputs, through operators that move, convert, compare or shift values by constants. Everything
/// else gives an empty one: the values became data.
[[nodiscard]] std::vector<Origin> follow_origins(const onnx::NodeProto& node, const std::vector<KnownInput>& inputs);

/// The elements of a vector or scalar, known from its value or its origin; empty: it is longer or its size is not
/// known.
[[nodiscard]] std::vector<Element> elements_of(const KnownInput& input);

}  // namespace ridgeline::workload
