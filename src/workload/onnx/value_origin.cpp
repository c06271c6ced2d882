// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/value_origin.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "workload/onnx/graph_shapes.hpp"
#include "workload/onnx/model_census.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

using onnx::NodeProto;
using KnownInputs = std::vector<KnownInput>;

constexpr std::size_t kMostStrands = 32;

const KnownInput& known_at(const KnownInputs& inputs, std::size_t index) {
  static const KnownInput kNone;
  return index < inputs.size() ? inputs[index] : kNone;
}

bool has_strands(const KnownInput& input) { return input.origin != nullptr && !input.origin->strands.empty(); }

void add_strands(const KnownInput& from, Origin& to) {
  if (from.origin == nullptr) return;
  for (const auto& strand : from.origin->strands)
    if (to.strands.size() < kMostStrands) to.strands.push_back(strand);
}

/// All values moved, none changed.
Origin moved(const KnownInput& input) {
  Origin out;
  if (input.origin == nullptr) return out;
  out.strands = input.origin->strands;
  out.counts = input.origin->counts;
  return out;
}

/// Moved in their order.
Origin same_order(const KnownInput& input) {
  auto out = moved(input);
  if (has_strands(input)) out.elements = input.origin->elements;
  return out;
}

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

struct Bounds {
  double low;
  double high;
};

std::optional<Bounds> bounds_of(const KnownInput& input) {
  if (input.value == nullptr || input.value->values.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(input.value->values.begin(), input.value->values.end());
  return Bounds{*low, *high};
}

bool shift(Strand& strand, Bounds by) {
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

bool is_whole(const KnownInput& input) {
  if (input.type == nullptr || !input.type->has_tensor_type()) return false;
  switch (input.type->tensor_type().elem_type()) {
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::DOUBLE:
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16: return false;
    default: return true;
  }
}

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

Origin follow_concat(const NodeProto&, const KnownInputs& inputs) {
  Origin out;
  bool known = true;
  for (const auto& input : inputs) {
    add_strands(input, out);
    auto elements = elements_of(input);
    known = known && !elements.empty();
    out.elements.insert(out.elements.end(), elements.begin(), elements.end());
  }
  if (!known || out.elements.size() > kMostElements || out.strands.empty()) out.elements.clear();
  return out;
}

Origin follow_gather(const NodeProto& node, const KnownInputs& inputs) {
  auto out = moved(known_at(inputs, 0));
  const auto elements = elements_of(known_at(inputs, 0));
  const auto* indices = known_at(inputs, 1).value;
  if (out.strands.empty() || elements.empty() || indices == nullptr || indices->values.size() > kMostElements ||
      attribute_int(node, "axis", 0) > 0)
    return out;
  out.strands.clear();
  for (auto index : indices->integers()) {
    if (index < 0) index += static_cast<std::int64_t>(elements.size());
    if (index < 0 || index >= static_cast<std::int64_t>(elements.size())) return moved(known_at(inputs, 0));
    out.elements.push_back(elements[static_cast<std::size_t>(index)]);
    if (out.elements.back().strand) out.strands.push_back(*out.elements.back().strand);
  }
  return out;
}

/// Of a short vector, forwards.
Origin follow_slice(const NodeProto& node, const KnownInputs& inputs) {
  auto out = moved(known_at(inputs, 0));
  const auto elements = elements_of(known_at(inputs, 0));
  if (out.strands.empty() || elements.empty()) return out;
  const auto single = [&](const char* name, std::size_t index, std::int64_t otherwise) -> std::optional<std::int64_t> {
    if (const auto given = attribute_ints(node, name))
      return given->size() == 1 ? std::optional(given->front()) : std::nullopt;
    if (index >= inputs.size() || (known_at(inputs, index).type == nullptr && known_at(inputs, index).value == nullptr))
      return otherwise;
    const auto* value = inputs[index].value;
    if (value == nullptr || value->values.size() != 1) return std::nullopt;
    return value->integers().front();
  };
  const auto size = static_cast<std::int64_t>(elements.size());
  const auto from = single("starts", 1, 0);
  const auto to = single("ends", 2, size);
  if (!from || !to || single("steps", 4, 1) != 1) return out;
  const auto clamp = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
  out.strands.clear();
  for (auto one = clamp(*from); one < clamp(std::max(*to, -size)); ++one) {
    out.elements.push_back(elements[static_cast<std::size_t>(one)]);
    if (out.elements.back().strand) out.strands.push_back(*out.elements.back().strand);
  }
  return out;
}

Origin follow_union(const KnownInputs& inputs, std::size_t first) {
  Origin out;
  for (auto index = first; index < inputs.size(); ++index) add_strands(inputs[index], out);
  return out;
}

Origin follow_range(const KnownInputs& inputs) {
  Origin out;
  const auto starts_at = [&](double value) {
    const auto bounds = bounds_of(known_at(inputs, 0));
    return bounds && bounds->low == value;
  };
  out.counts = is_whole(known_at(inputs, 0)) && starts_at(0);
  return out;
}

using Follow = Origin (*)(const NodeProto&, const KnownInputs&);

const std::map<std::string, Follow>& follow_rows() {
  static const std::map<std::string, Follow> rows = [] {
    std::map<std::string, Follow> table = {
        {"Cast", follow_cast},
        {"Concat", follow_concat},
        {"Gather", follow_gather},
        {"Slice", follow_slice},
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
        {"Range", [](const NodeProto&, const KnownInputs& inputs) { return follow_range(inputs); }},
        {"Where", [](const NodeProto&, const KnownInputs& inputs) { return follow_union(inputs, 1); }},
    };
    for (const char* name : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
      table.emplace(name, follow_comparison);
    for (const char* name : {"And", "Or", "Xor"})
      table.emplace(name, [](const NodeProto&, const KnownInputs& inputs) { return follow_union(inputs, 0); });
    for (const char* name : {"Identity", "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Floor", "Ceil", "Round"})
      table.emplace(name, [](const NodeProto&, const KnownInputs& inputs) { return same_order(known_at(inputs, 0)); });
    for (const char* name : {"Transpose", "Expand", "Tile", "Pad", "GatherElements", "GatherND", "ReduceMax",
                             "ReduceMin", "Dropout", "Trilu", "Abs", "ScatterElements", "ScatterND", "Split"})
      table.emplace(name, [](const NodeProto&, const KnownInputs& inputs) { return moved(known_at(inputs, 0)); });
    return table;
  }();
  return rows;
}

}  // namespace

bool Strand::truth(double x) const {
  const double number = value(x);
  bool holds = number != 0;
  if (test == Test::equal) holds = number == threshold;
  if (test == Test::less) holds = number < threshold;
  if (test == Test::greater) holds = number > threshold;
  return holds != inverted;
}

std::optional<double> Strand::solve(bool wanted) const {
  const double limit = scale == 0 ? 0 : std::floor((threshold - most_offset) / scale);
  for (const double x : {1.0, 0.0, limit, limit + 1, limit - 1, limit + 2})
    if (x >= low && x <= high && std::isfinite(x) && truth(x) == wanted) return x;
  return std::nullopt;
}

Origin origin_of_input(const std::string& name, const onnx::TypeProto& type) {
  Origin origin;
  // Of floating-point inputs short vectors alone can be arguments; the others are data.
  if (is_whole({&type, nullptr, nullptr})) origin.strands.push_back({.input = name});
  const auto dims = concrete_dims(&type);
  if (!dims || dims->size() > 1) return origin;
  const auto count = dims->empty() ? 1 : dims->front();
  if (count < 1 || count > static_cast<std::int64_t>(kMostElements)) return origin;
  origin.strands.clear();
  for (int at = 0; at < static_cast<int>(count); ++at) {
    Strand strand{.input = name, .element = at};
    origin.elements.push_back({std::nullopt, strand});
    origin.strands.push_back(std::move(strand));
  }
  return origin;
}

std::vector<Element> elements_of(const KnownInput& input) {
  std::vector<Element> elements;
  if (input.origin != nullptr && !input.origin->elements.empty()) return input.origin->elements;
  if (input.value != nullptr) {
    if (input.value->dims.size() > 1 || input.value->values.size() > kMostElements) return elements;
    for (const double value : input.value->values) elements.push_back({value, std::nullopt});
    return elements;
  }
  const auto dims = concrete_dims(input.type);
  if (!dims || dims->size() > 1) return elements;
  const auto count = dims->empty() ? 1 : dims->front();
  if (count >= 1 && count <= static_cast<std::int64_t>(kMostElements)) elements.resize(static_cast<std::size_t>(count));
  return elements;
}

std::vector<Origin> follow_origins(const NodeProto& node, const KnownInputs& inputs) {
  std::vector<Origin> outputs(static_cast<std::size_t>(node.output_size()));
  if (!normal_domain(node.domain()).empty() || outputs.empty()) return outputs;
  const auto row = follow_rows().find(node.op_type());
  if (row == follow_rows().end()) return outputs;
  outputs[0] = row->second(node, inputs);
  if (node.op_type() != "Split") return outputs;
  for (auto& output : outputs) output = outputs[0];
  std::size_t next = 0;
  const auto elements = elements_of(known_at(inputs, 0));
  if (elements.size() == outputs.size() && !outputs[0].strands.empty())
    for (auto& output : outputs) {
      output.elements = {elements[next++]};
      output.strands.clear();
      if (output.elements[0].strand) output.strands.push_back(*output.elements[0].strand);
    }
  return outputs;
}

}  // namespace ridgeline::workload
