// SPDX-License-Identifier: Apache-2.0
#include "trace/import/product_shape.hpp"

#include <charconv>
#include <cstddef>
#include <vector>

namespace ridgeline::trace {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::size_t kMostShapes = 8;
constexpr std::size_t kMostDims = 16;
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;  // of a dimension; products of two fit

/// Shapes of the inputs, an empty one for each that is no tensor; none where the text is no list of lists of numbers.
std::vector<Dims> shapes_in(std::string_view text) {
  std::vector<Dims> out;
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '[') {
      if (++depth > 2 || out.size() > kMostShapes) return {};
      if (depth == 2) out.emplace_back();
    } else if (c == ']') {
      --depth;
    } else if (c >= '0' && c <= '9') {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
      if (error != std::errc() || depth != 2 || number > kMostElements || out.back().size() >= kMostDims) return {};
      out.back().push_back(number);
      at = static_cast<std::size_t>(end - text.data());
      continue;
    } else if (c != ',' && c != ' ' && c != '\n' && c != '\r' && c != '\t') {
      return {};
    }
    ++at;
  }
  return out;
}

}  // namespace

std::optional<ProductShape> product_shape(std::string_view operation, std::string_view dims) {
  const bool is_plain = operation == "aten::mm";
  const bool with_sum = operation == "aten::addmm" || operation == "aten::baddbmm";
  if (!is_plain && !with_sum && operation != "aten::bmm" && operation != "aten::matmul") return std::nullopt;
  const auto shapes = shapes_in(dims);
  const std::size_t first = with_sum ? 1 : 0;
  if (shapes.size() < first + 2) return std::nullopt;
  const auto& left = shapes[first];
  const auto& right = shapes[first + 1];
  if (left.size() < 2 || right.size() < 2 || left.back() != right[right.size() - 2]) return std::nullopt;
  ProductShape out{0, left[left.size() - 2], left.back(), right.back()};
  if (left.size() > 2 && right.size() > 2) {
    out.pairs = 1;
    for (std::size_t i = 0; i + 2 < left.size() && out.pairs <= kMostElements; ++i) out.pairs *= left[i];
  }
  const bool is_batched = operation != "aten::mm" && operation != "aten::addmm";
  return is_batched || out.rows == 1 || out.columns == 1 ? std::optional(out) : std::nullopt;
}

}  // namespace ridgeline::trace
