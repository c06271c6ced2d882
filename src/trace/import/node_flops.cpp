// SPDX-License-Identifier: Apache-2.0
#include "trace/import/node_flops.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

namespace ridgeline::trace {
namespace {

constexpr std::array<std::string_view, 16> kMoves{
    "Reshape", "Transpose", "Concat",   "Split",  "Slice", "Gather",       "Unsqueeze",     "Squeeze",
    "Flatten", "Cast",      "Identity", "Expand", "Pad",   "ReorderInput", "ReorderOutput", "Shape"};

/// -1 where it is more than 64 bits, or a dimension is unknown.
std::int64_t product(std::span<const std::int64_t> factors) {
  std::int64_t out = 1;
  for (const auto factor : factors) {
    if (factor < 0 || (factor > 0 && out > std::numeric_limits<std::int64_t>::max() / factor)) return -1;
    out *= factor;
  }
  return out;
}

/// Twice the product; -1 where a factor is unknown.
std::int64_t multiply_adds(std::int64_t count, std::int64_t each) {
  const std::array<std::int64_t, 3> factors{2, count, each};
  return count < 0 || each < 0 ? -1 : product(factors);
}

}  // namespace

std::int64_t node_flops(std::string_view operation, const Shapes& inputs, const Shapes& outputs) {
  if (std::find(kMoves.begin(), kMoves.end(), operation) != kMoves.end()) return 0;
  if (outputs.empty()) return -1;
  const auto elements = product(outputs.front());
  const auto ends_with = [&](std::string_view end) { return operation.ends_with(end); };
  if (ends_with("ConvTranspose")) {  // each input meets each weight of its channel once
    if (inputs.size() < 2 || inputs[1].size() < 2) return -1;
    return multiply_adds(product(inputs[0]), product(std::span(inputs[1]).subspan(1)));
  }
  if (ends_with("Conv") || ends_with("ConvInteger") || ends_with("QLinearConv")) {
    const auto weights = ends_with("QLinearConv") ? std::size_t{3} : std::size_t{1};
    if (inputs.size() <= weights || inputs[weights].size() < 2) return -1;
    return multiply_adds(elements, product(std::span(inputs[weights]).subspan(1)));
  }
  if (operation.find("MatMul") != std::string_view::npos) {
    if (inputs.empty() || inputs[0].empty()) return -1;
    return multiply_adds(elements, inputs[0].back());
  }
  if (ends_with("Gemm")) {  // either side may be transposed: what is not in the output is summed over
    if (inputs.empty() || outputs.front().size() != 2 || outputs.front()[0] <= 0) return -1;
    const auto all = product(inputs[0]);
    return all < 0 ? -1 : multiply_adds(elements, all / outputs.front()[0]);
  }
  if (operation == "Einsum" || operation == "Attention" || operation == "MultiHeadAttention" || operation == "LSTM" ||
      operation == "GRU" || operation == "RNN" || operation == "If" || operation == "Loop" || operation == "Scan")
    return -1;
  return elements;
}

}  // namespace ridgeline::trace
