// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/products.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace ridgeline::trace {
namespace {

bool has_one_of(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return name.find(part) != std::string_view::npos; });
}

/// Of pairs of matrices.
bool is_batched_operation(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kBatched{"aten::bmm", "aten::baddbmm", "aten::matmul",
                                                            "aten::einsum"};
  return std::find(kBatched.begin(), kBatched.end(), name) != kBatched.end();
}

/// Of a matrix that is a parameter, or of one pair alone.
bool is_plain_operation(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kPlain{"aten::linear", "aten::addmm", "aten::mm",
                                                          "aten::mv",     "aten::addmv", "aten::_addmm_activation"};
  return std::find(kPlain.begin(), kPlain.end(), name) != kPlain.end() ||
         (name.starts_with("aten::") && has_one_of(name, {"conv"}));
}

/// Forward P is what the first product makes, and what the second takes. The backward pass multiplies by its transpose,
/// too.
bool fit(const ProductShape& first, const ProductShape& second, bool backward) {
  if (first.pairs != second.pairs) return false;
  const std::pair wanted{second.rows, second.inner};
  if (std::pair{first.rows, first.columns} == wanted) return true;
  if (!backward) return false;
  const auto sorted = [](std::int64_t a, std::int64_t b) { return std::minmax({a, b}); };
  const auto either = sorted(wanted.first, wanted.second);
  return sorted(first.rows, first.columns) == either || sorted(first.rows, first.inner) == either ||
         sorted(first.inner, first.columns) == either;
}

}  // namespace

Products::Products(const AnalysedTrace& analysed) : analysed_(analysed) {
  const auto& nodes = analysed.trace.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes.correlation[i] != 0) nodes_.emplace(nodes.correlation[i], i);
  const auto& kinds = analysed.trace.ranges.kind;
  has_operations_ = std::find(kinds.begin(), kinds.end(), RangeKind::operation) != kinds.end();
  const auto& rows = analysed.attribution.rows;
  has_modules_.resize(rows.size());
  for (const auto& row : rows)
    if (row.parent != kNowhere && row.kind == schema::ModuleKind::module) has_modules_[row.parent] = true;
}

bool Products::are_of_attention(std::size_t first, std::size_t second) const {
  const auto one = kind_of(first);
  const auto other = kind_of(second);
  if (one == Kind::other || other == Kind::other) return false;
  const auto& grids = analysed_.trace.kernels.grid;
  if (one == Kind::unknown || other == Kind::unknown)
    return (grids[first].z > 1 && grids[first].z == grids[second].z) || are_of_one_module(first, second);
  const auto shape = shape_of(first);
  const auto other_shape = shape_of(second);
  return !shape || !other_shape || fit(*shape, *other_shape, analysed_.is_backward(analysed_.kernels.call[first]));
}

bool Products::are_of_one_module(std::size_t first, std::size_t second) const {
  const auto& placed = analysed_.kernels.row;
  const auto row = placed[first];
  if (has_operations_ || row != placed[second] || row == kNowhere || row == 0) return false;
  return analysed_.attribution.rows[row].kind == schema::ModuleKind::module && has_modules_[row];
}

bool Products::is_of_convolution(std::size_t kernel) const {
  const auto& trace = analysed_.trace;
  if (has_one_of(trace.strings.text(trace.kernels.name[kernel]),
                 {"fprop", "dgrad", "wgrad", "conv", "cudnn", "winograd"}))
    return true;
  const auto around = analysed_.names_around(analysed_.kernels.call[kernel]);
  return std::any_of(around.begin(), around.end(),
                     [](auto name) { return name.starts_with("aten::") && has_one_of(name, {"conv"}); });
}

bool Products::is_of_vector(std::size_t kernel) const {
  const auto shape = shape_of(kernel);
  return shape && (shape->rows == 1 || shape->columns == 1);
}

Products::Kind Products::kind_of(std::size_t kernel) const {
  const auto& trace = analysed_.trace;
  const auto call = analysed_.kernels.call[kernel];
  auto kind = Kind::unknown;
  for (const auto name : analysed_.names_around(call)) {
    if (is_plain_operation(name)) return Kind::other;
    if (is_batched_operation(name)) kind = Kind::batched;
  }
  if (const auto shape = shape_of(kernel); shape && kind == Kind::batched && shape->pairs == 0) return Kind::other;
  const auto node = nodes_.find(trace.kernels.correlation[kernel]);
  if (kind != Kind::unknown || node == nodes_.end()) return kind;
  const bool is_batched = has_one_of(trace.strings.text(trace.nodes.operation[node->second]), {"MatMul"}) &&
                          trace.nodes.parameter_bytes[node->second] == 0;
  return is_batched ? Kind::batched : Kind::other;
}

std::optional<ProductShape> Products::shape_of(std::size_t kernel) const {
  const auto& trace = analysed_.trace;
  const auto call = analysed_.kernels.call[kernel];
  for (auto range = call == kNowhere ? kNowhere : analysed_.nesting.range_of_call[call]; range != kNowhere;
       range = analysed_.nesting.parent_of_range[range]) {
    const auto found = trace.product_shapes.find({trace.ranges.lane[range], trace.ranges.start_ns[range]});
    if (found != trace.product_shapes.end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace ridgeline::trace
