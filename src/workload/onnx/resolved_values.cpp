// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/resolved_values.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "workload/onnx/given_values.hpp"
#include "workload/onnx/known_values.hpp"

namespace ridgeline::workload {
namespace {

using schema::InputValues;
using schema::TensorDescription;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostReasons = 2;

/// What the uses ask of one element, or of all of an input.
struct Cell {
  std::optional<double> argument;
  std::optional<double> count;
  std::optional<double> mask;
  std::optional<double> divisor;
  double low = -kUnbounded;
  double high = kUnbounded;
  [[nodiscard]] bool is_bounded() const { return high < kUnbounded || low > -kUnbounded; }
};

schema::Message joined(std::vector<schema::Message> reasons) {
  if (reasons.size() == 1) return std::move(reasons.front());
  std::optional<std::int64_t> more;
  if (reasons.size() > kMostReasons) more = static_cast<std::int64_t>(reasons.size() - kMostReasons);
  reasons.resize(std::min(reasons.size(), kMostReasons));
  return messages::input_uses({.uses = std::move(reasons), .more = more});
}

void apply(const InputUse& use, Cell& cell) {
  const auto first = [&](std::optional<double>& slot) { slot = slot.value_or(use.exact); };
  switch (use.kind) {
    case UseKind::argument: first(cell.argument); break;
    case UseKind::count: first(cell.count); break;
    case UseKind::mask: first(cell.mask); break;
    case UseKind::divisor: first(cell.divisor); break;
    case UseKind::index:
      cell.low = std::max(cell.low, use.low);
      cell.high = std::min(cell.high, use.high);
      break;
    case UseKind::condition:
    case UseKind::compared: break;
  }
}

/// The single value of a cell; nullopt: a range, or nothing is known.
std::optional<double> single_value(const Cell& cell) {
  if (cell.argument)
    return cell.is_bounded() ? std::clamp(*cell.argument, cell.low, std::max(cell.low, cell.high)) : *cell.argument;
  if (cell.count) return cell.high < kUnbounded ? cell.high : *cell.count;
  if (cell.is_bounded()) return std::nullopt;
  if (cell.mask) return cell.mask;
  return cell.divisor;
}

bool is_of_kind(UseKind kind, const Cell& cell) {
  switch (kind) {
    case UseKind::argument: return cell.argument.has_value();
    case UseKind::count: return !cell.argument && cell.count;
    case UseKind::index: return !cell.argument && cell.is_bounded();
    case UseKind::mask: return !single_value(cell) ? false : !cell.argument && !cell.count && cell.mask;
    case UseKind::divisor: return cell.divisor && !cell.argument && !cell.count && !(cell.mask && !cell.is_bounded());
    default: return false;
  }
}

/// Values of one input from what its cells are asked.
std::optional<InputValues> settle_cells(const TensorDescription& input, std::vector<Cell>& cells,
                                        const std::vector<const InputUse*>& uses) {
  const auto limits = whole_numbers_of(input.element_type);
  InputValues values;
  values.name = input.name;
  std::vector<schema::Message> reasons;
  const auto give_reasons = [&](const Cell& cell) {
    for (const auto* use : uses)
      if (is_of_kind(use->kind, cell) && std::find(reasons.begin(), reasons.end(), use->reason) == reasons.end())
        reasons.push_back(use->reason);
  };
  bool any = false;
  bool all_ranges = true;
  Cell all;
  for (auto& cell : cells) {
    if (cell.divisor && cell.is_bounded()) cell.low = std::max(cell.low, 1.0);
    const auto value = single_value(cell);
    any = any || value || cell.is_bounded();
    all_ranges = all_ranges && !value;
    all.low = std::max(all.low, cell.low);
    all.high = std::min(all.high, cell.high);
    give_reasons(cell);
  }
  if (!any) return std::nullopt;
  const auto least = limits ? static_cast<double>(limits->low) : -kUnbounded;
  const auto most = limits ? static_cast<double>(limits->high) : kUnbounded;
  const auto fitting = [&](double value) {
    return static_cast<std::int64_t>(std::clamp(value, std::max(least, -1e18), std::min(most, 1e18)));
  };
  values.reason = joined(std::move(reasons));
  if (all_ranges) {
    values.high = fitting(std::min(all.high, 1e9));
    values.low = std::min(fitting(std::max(all.low, std::min(0.0, all.high))), values.high);
    if (!limits) return std::nullopt;  // a floating-point number is no index
    return values;
  }
  for (const auto& cell : cells)
    values.elements.push_back(
        fitting(single_value(cell).value_or(std::clamp(1.0, cell.low, std::max(cell.low, cell.high)))));
  if (std::all_of(values.elements.begin(), values.elements.end(), [&](auto one) { return one == values.elements[0]; }))
    values.elements.resize(1);
  return values;
}

std::vector<BranchValue> alternatives_of(const std::vector<const InputUse*>& uses) {
  std::vector<BranchValue> found;
  const auto add = [&](double value, const schema::Message& branch) {
    const auto known = std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.value == value; });
    if (known == found.end())
      found.push_back({value, {branch}});
    else if (std::find(known->branches.begin(), known->branches.end(), branch) == known->branches.end())
      known->branches.push_back(branch);
  };
  std::vector<double> compared;
  for (const auto* use : uses)
    if (use->kind == UseKind::compared) compared.push_back(use->exact);
  for (const auto* use : uses) {
    if (use->kind != UseKind::condition) continue;
    auto otherwise = use->otherwise;
    for (const double one : compared)  // another number that the graph knows
      if (std::find(compared.begin(), compared.end(), use->exact) != compared.end() && one != use->exact)
        otherwise = one;
    add(use->exact, use->reason);
    add(otherwise, use->otherwise_reason);
  }
  return found;
}

}  // namespace

ResolvedValues resolve_values(const schema::TensorDescription& input, const schema::ShapeSet& set,
                              const std::vector<InputUse>& all_uses) {
  const bool whole = whole_numbers_of(input.element_type).has_value();
  std::vector<const InputUse*> uses;
  std::size_t count = 1;
  for (const auto& use : all_uses) {
    if (use.input != input.name || (!whole && use.kind != UseKind::argument)) continue;
    uses.push_back(&use);
    if (use.element >= 0) count = std::max(count, static_cast<std::size_t>(use.element) + 1);
  }
  if (const auto* dims = dims_in(set, input.name); count > 1 && dims != nullptr && dims->size() == 1)
    count = static_cast<std::size_t>((*dims)[0]);
  std::vector<Cell> cells(count);
  for (const auto* use : uses)
    for (std::size_t at = 0; at < count; ++at)
      if (use->element == Strand::kAnyElement || static_cast<std::size_t>(use->element) == at) apply(*use, cells[at]);
  return {settle_cells(input, cells, uses), alternatives_of(uses)};
}

}  // namespace ridgeline::workload
