// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "workload/onnx/node_attributes.hpp"
#include "workload/onnx/origin_rules.hpp"

namespace ridgeline::workload {
namespace {

using onnx::NodeProto;

using Change = std::function<bool(Strand&)>;  // false: it cannot be followed

/// `change` for each strand; the elements follow where all of them can.
Origin changed(const KnownInput& input, const Change& change, const std::function<double(double)>& of_value = {}) {
  Origin out;
  if (input.origin == nullptr) return out;
  for (auto strand : input.origin->strands)
    if (change(strand)) out.strands.push_back(std::move(strand));
  for (auto element : input.origin->elements) {
    if (element.strand && !change(*element.strand)) element.strand.reset();
    if (element.value) element.value = of_value ? std::optional(of_value(*element.value)) : std::nullopt;
    out.elements.push_back(std::move(element));
  }
  return out;
}

bool shift(Strand& strand, ValueBounds by) {
  if (strand.test != Test::none) return false;
  strand.least_offset += by.low;
  strand.most_offset += by.high;
  return true;
}

bool stretch(Strand& strand, double by) {
  if (strand.test != Test::none && strand.test != Test::nonzero) return false;
  if (by == 0 || !std::isfinite(by)) return false;
  if (strand.test == Test::nonzero) {  // a bool that became a number
    strand.test = Test::none;
    if (strand.inverted) {
      strand.scale = -strand.scale;
      strand.least_offset = strand.most_offset = 1 - strand.most_offset;
      strand.inverted = false;
    }
  }
  strand.scale *= by;
  strand.least_offset *= by;
  strand.most_offset *= by;
  if (by < 0) std::swap(strand.least_offset, strand.most_offset);
  return true;
}

/// A value below `low` or above `high` is taken as these.
bool clip(Strand& strand, double low, double high) {
  if (strand.test != Test::none || strand.scale == 0) return false;
  auto from = (low - strand.least_offset) / strand.scale;
  auto to = (high - strand.most_offset) / strand.scale;
  if (strand.scale < 0) std::swap(from, to);
  if (!std::isnan(from)) strand.low = std::max(strand.low, from);
  if (!std::isnan(to)) strand.high = std::min(strand.high, to);
  return true;
}

/// "1 - mask" of a bool or number that was only cast: kept as a number.
bool as_number(Strand& strand) { return strand.test == Test::none || stretch(strand, 1); }

Origin shifted_by(const KnownInput& input, const KnownInput& by, double sign) {
  const auto bounds = bounds_of(by);
  if (!bounds) return {};
  const auto low = std::min(sign * bounds->low, sign * bounds->high);
  const auto high = std::max(sign * bounds->low, sign * bounds->high);
  auto out = changed(
      input,
      [&](Strand& strand) {
        return as_number(strand) && shift(strand, {low, high});
      },
      [&](double value) { return value + low; });
  if (low != high) out.elements.clear();
  return out;
}

Origin follow_add(const KnownInputs& inputs) {
  if (has_strands(known_at(inputs, 0)) == has_strands(known_at(inputs, 1))) return {};
  return has_strands(known_at(inputs, 0)) ? shifted_by(inputs[0], known_at(inputs, 1), 1)
                                          : shifted_by(inputs[1], inputs[0], 1);
}

Origin stretched_by(const KnownInput& input, double by) {
  return changed(
      input, [&](Strand& strand) { return stretch(strand, by); }, [&](double value) { return value * by; });
}

Origin follow_sub(const KnownInputs& inputs) {
  if (has_strands(known_at(inputs, 0)) == has_strands(known_at(inputs, 1))) return {};
  if (has_strands(known_at(inputs, 0))) return shifted_by(inputs[0], known_at(inputs, 1), -1);
  const auto negative = stretched_by(inputs[1], -1);
  return shifted_by({inputs[1].type, nullptr, &negative}, inputs[0], 1);
}

Origin follow_mul(const KnownInputs& inputs) {
  const bool both = has_strands(known_at(inputs, 0)) && has_strands(known_at(inputs, 1));
  if (both) {  // a product of masks
    Origin out;
    for (const auto& input : inputs) add_strands(input, out);
    return out;
  }
  const std::size_t strand = has_strands(known_at(inputs, 0)) ? 0 : 1;
  const auto bounds = bounds_of(known_at(inputs, 1 - strand));
  if (!bounds || bounds->low != bounds->high) return {};
  return stretched_by(known_at(inputs, strand), bounds->low);
}

Origin follow_div(const KnownInputs& inputs) {
  const auto bounds = bounds_of(known_at(inputs, 1));
  if (!has_strands(known_at(inputs, 0)) || !bounds || bounds->low != bounds->high || bounds->low == 0) return {};
  return stretched_by(inputs[0], 1 / bounds->low);
}

Origin follow_mod(const KnownInputs& inputs) {
  const auto bounds = bounds_of(known_at(inputs, 1));
  if (!has_strands(known_at(inputs, 0)) || !bounds || bounds->low < 1) return {};
  return changed(inputs[0], [&](Strand& strand) { return clip(strand, 0, bounds->low - 1); });
}

/// Of Clip, Min and Max by constants.
Origin follow_clip(const NodeProto& node, const KnownInputs& inputs) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low = -kInfinity;
  double high = kInfinity;
  const auto& type = node.op_type();
  std::size_t strand = 0;
  if (type == "Clip") {
    if (const auto bounds = bounds_of(known_at(inputs, 1))) low = bounds->high;
    if (const auto bounds = bounds_of(known_at(inputs, 2))) high = bounds->low;
  } else {
    while (strand < inputs.size() && !has_strands(inputs[strand])) ++strand;
    for (const auto& input : inputs) {
      const auto bounds = bounds_of(input);
      if (!bounds) continue;
      if (type == "Max") low = std::max(low, bounds->high);
      if (type == "Min") high = std::min(high, bounds->low);
    }
  }
  return changed(known_at(inputs, strand), [&](Strand& one) { return clip(one, low, high); });
}

Test mirrored(Test test) { return test == Test::less ? Test::greater : test == Test::greater ? Test::less : test; }

Origin follow_comparison(const NodeProto& node, const KnownInputs& inputs) {
  const auto& type = node.op_type();
  const std::size_t strand = has_strands(known_at(inputs, 0)) ? 0 : 1;
  const auto bounds = bounds_of(known_at(inputs, 1 - strand));
  if (!bounds || bounds->low != bounds->high) return {};
  auto test = type == "Equal" ? Test::equal : type.rfind("Less", 0) == 0 ? Test::less : Test::greater;
  bool inverted = false;
  if (type == "LessOrEqual" || type == "GreaterOrEqual") {
    test = mirrored(test);
    inverted = true;
  }
  if (strand == 1) test = mirrored(test);
  return changed(inputs[strand], [&](Strand& one) {
    if (one.test != Test::none && test != Test::equal) return false;
    if (one.test != Test::none) {  // a bool that is compared with true or false
      one.inverted = one.inverted != (bounds->low == 0);
      return true;
    }
    one.test = test;
    one.threshold = bounds->low;
    one.inverted = inverted;
    return true;
  });
}

Origin follow_not(const KnownInputs& inputs) {
  return changed(known_at(inputs, 0), [](Strand& strand) {
    if (strand.test == Test::none) strand.test = Test::nonzero;
    strand.inverted = !strand.inverted;
    return true;
  });
}

Origin follow_cast(const NodeProto& node, const KnownInputs& inputs) {
  const auto& input = known_at(inputs, 0);
  if (attribute_int(node, "to", 0) != onnx::TensorProto::BOOL) return same_order(input);
  return changed(input, [](Strand& strand) {
    if (strand.test == Test::none) strand.test = Test::nonzero;
    return true;
  });
}

}  // namespace

const OriginRules& calculating_origin_rules() {
  static const OriginRules rules = [] {
    OriginRules table = {
        {"Cast", follow_cast},
        {"Clip", follow_clip},
        {"Min", follow_clip},
        {"Max", follow_clip},
        {"Add", [](const NodeProto&, const KnownInputs& inputs) { return follow_add(inputs); }},
        {"Sub", [](const NodeProto&, const KnownInputs& inputs) { return follow_sub(inputs); }},
        {"Mul", [](const NodeProto&, const KnownInputs& inputs) { return follow_mul(inputs); }},
        {"Div", [](const NodeProto&, const KnownInputs& inputs) { return follow_div(inputs); }},
        {"Mod", [](const NodeProto&, const KnownInputs& inputs) { return follow_mod(inputs); }},
        {"Neg", [](const NodeProto&, const KnownInputs& inputs) { return stretched_by(known_at(inputs, 0), -1); }},
        {"Not", [](const NodeProto&, const KnownInputs& inputs) { return follow_not(inputs); }},
    };
    for (const char* name : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
      table.emplace(name, follow_comparison);
    return table;
  }();
  return rules;
}

}  // namespace ridgeline::workload
