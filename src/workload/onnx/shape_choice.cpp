// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/shape_choice.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "workload/element_type.hpp"
#include "workload/onnx/dim_guess.hpp"
#include "workload/onnx/dim_role.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using schema::InputShape;
using schema::ShapeSet;
using schema::TensorDescription;

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;  // a tensor of 2^40 elements fits no machine

base::Result<void> check_wanted(const TensorDescription& input, const std::vector<std::int64_t>& dims,
                                const ShapeHints& hints) {
  const auto given = shape_text(dims);
  if (!has_tensor_shape(input))
    return base::fail(ErrorCode::invalid_argument, "--shape {}:{}: the input is a {}, which has no shape", input.name,
                      given, input.element_type)
        .hint("leave it out");
  for (const auto dim : dims)
    if (dim < 0)
      return base::fail(ErrorCode::invalid_argument,
                        "--shape {}:{} has the negative dimension {}: every dimension needs a size", input.name, given,
                        dim);
  if (const auto count = element_count(dims); !count || *count > kMostElements)
    return base::fail(ErrorCode::invalid_argument, "--shape {}:{} has more than 2^40 elements", input.name, given)
        .hint("give smaller dimensions");
  if (hints.unranked.count(input.name) != 0) return {};
  std::vector<std::string> expected;
  for (std::size_t axis = 0; axis < input.dims.size(); ++axis)
    expected.push_back(input.dims[axis] >= 0           ? std::to_string(input.dims[axis])
                       : input.dim_names[axis].empty() ? "?"
                                                       : input.dim_names[axis]);
  const auto declared = expected.empty() ? std::string("scalar") : fmt::format("{}", fmt::join(expected, "x"));
  if (dims.size() != input.dims.size())
    return base::fail(ErrorCode::invalid_argument, "--shape {}:{} has {} dimensions, but the model's input has {} ({})",
                      input.name, given, dims.size(), input.dims.size(), declared)
        .hint("give {} sizes joined by x", input.dims.size());
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    if (input.dims[axis] >= 0 && dims[axis] != input.dims[axis])
      return base::fail(ErrorCode::invalid_argument, "--shape {}:{} has {} on axis {}, where the model fixes {} ({})",
                        input.name, given, dims[axis], axis, input.dims[axis], declared)
          .hint("leave it at {}", input.dims[axis]);
  return {};
}

base::Result<void> check_wanted_set(const std::vector<TensorDescription>& inputs, const ShapeSet& wanted,
                                    const ShapeHints& hints) {
  std::set<std::string> seen;
  for (const auto& shape : wanted) {
    const auto input =
        std::find_if(inputs.begin(), inputs.end(), [&](const auto& one) { return one.name == shape.name; });
    if (input == inputs.end()) {
      std::vector<std::string> names;
      for (const auto& one : inputs) names.push_back(one.name);
      return base::fail(ErrorCode::invalid_argument, "--shape names the unknown input \"{}\"; the model's inputs: {}",
                        shape.name, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))
          .hint("{}", base::did_you_mean(shape.name, names));
    }
    if (!seen.insert(shape.name).second)
      return base::fail(ErrorCode::invalid_argument, "--shape gives input {} twice in one set", shape.name)
          .hint("give it once");
    RL_TRY(check_wanted(*input, shape.dims, hints));
  }
  return {};
}

/// One member of the mix being filled in.
class SetBuilder {
 public:
  SetBuilder(const std::vector<TensorDescription>& inputs, const ShapeSet& wanted, const ShapeHints& hints)
      : inputs_(inputs), wanted_(wanted), hints_(hints) {
    for (const auto& input : inputs_)
      for (const auto& name : input.dim_names) decodes_ = decodes_ || role_of_dim_name(name) == DimRole::past;
    bind_wanted_symbols();
    bind_known_symbols();
  }

  void build(ShapeChoice& choice) {
    ShapeSet set;
    for (const auto& input : inputs_) {
      if (!has_tensor_shape(input)) continue;
      if (const auto* shape = find_wanted(input.name)) {
        set.push_back(*shape);
        continue;
      }
      set.push_back(fill(input, choice));
    }
    choice.sets.push_back(std::move(set));
  }

 private:
  [[nodiscard]] const InputShape* find_wanted(const std::string& name) const {
    for (const auto& shape : wanted_)
      if (shape.name == name) return &shape;
    return nullptr;
  }

  void bind_wanted_symbols() {
    for (const auto& input : inputs_) {
      const auto* shape = find_wanted(input.name);
      if (shape == nullptr || shape->dims.size() != input.dims.size()) continue;
      for (std::size_t axis = 0; axis < input.dims.size(); ++axis)
        if (!input.dim_names[axis].empty())
          symbols_.try_emplace(input.dim_names[axis], DimHint{shape->dims[axis], messages::dim_as_given(input.name)});
    }
  }

  void bind_known_symbols() {
    for (const auto& input : inputs_)
      for (std::size_t axis = 0; axis < input.dims.size(); ++axis)
        if (const auto known = hints_.known.find({input.name, axis}); known != hints_.known.end())
          if (!input.dim_names[axis].empty()) symbols_.try_emplace(input.dim_names[axis], known->second);
  }

  /// "past + 1", "past_sequence_length + sequence_length": the sum when every term is known.
  [[nodiscard]] std::optional<DimHint> sum_of_symbols(const std::string& name) const {
    if (name.find('+') == std::string::npos) return std::nullopt;
    DimHint sum{0, messages::dim_sum()};
    for (const auto& part : base::split(name, '+')) {
      const std::string term(base::trim(part));
      if (const auto number = base::parse_integer(term, "dimension"); number && *number >= 0) {
        sum.size += *number;
      } else if (const auto bound = symbols_.find(term); bound != symbols_.end()) {
        sum.size += bound->second.size;
      } else {
        const auto role = role_of_dim_name(term);
        if (role != DimRole::past && role != DimRole::sequence) return std::nullopt;
        sum.size += guess_term(term).size;
      }
    }
    return sum;
  }

  [[nodiscard]] DimHint guess_term(const std::string& term) const {
    const TensorDescription alone{"", "int64", {1, -1}, {"", term}};
    return guess_dim(alone, 1, hints_, decodes_);
  }

  DimHint choose(const TensorDescription& input, std::size_t axis, ShapeChoice& choice) {
    const auto& name = input.dim_names[axis];
    if (const auto bound = symbols_.find(name); !name.empty() && bound != symbols_.end()) return bound->second;
    if (const auto known = hints_.known.find({input.name, axis}); known != hints_.known.end()) return known->second;
    auto hint = sum_of_symbols(name);
    if (!hint && decodes_ && name.find("total") != std::string::npos)
      hint = DimHint{guess_term("past").size + guess_term("sequence").size, messages::dim_past_and_new()};
    if (!hint) hint = guess_dim(input, axis, hints_, decodes_);
    choice.guessed = true;
    if (!name.empty()) symbols_.emplace(name, *hint);
    return *hint;
  }

  InputShape fill(const TensorDescription& input, ShapeChoice& choice) {
    InputShape shape{input.name, input.dims};
    std::vector<schema::Message> axes;
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
      if (input.dims[axis] >= 0) continue;
      const auto hint = choose(input, axis, choice);
      shape.dims[axis] = hint.size;
      axes.push_back(messages::shape_axis({.axis = static_cast<std::int64_t>(axis),
                                           .name = input.dim_names[axis],
                                           .size = hint.size,
                                           .why = hint.reason}));
    }
    schema::Message note;
    if (!axes.empty())
      note = messages::shape_taken({.input = input.name, .shape = shape_text(shape.dims), .axes = std::move(axes)});
    if (hints_.unranked.count(input.name) != 0) {
      choice.guessed = true;
      note = messages::shape_undeclared(input.name);
    }
    if (!note.empty() && std::find(choice.notes.begin(), choice.notes.end(), note) == choice.notes.end())
      choice.notes.push_back(note);
    return shape;
  }

  const std::vector<TensorDescription>& inputs_;
  const ShapeSet& wanted_;
  const ShapeHints& hints_;
  std::map<std::string, DimHint> symbols_;  // sizes by symbolic name, in this set
  bool decodes_ = false;
};

}  // namespace

bool has_tensor_shape(const TensorDescription& input) { return input.element_type.find('(') == std::string::npos; }

base::Result<ShapeChoice> choose_shapes(const std::vector<TensorDescription>& inputs,
                                        const std::vector<ShapeSet>& wanted, const ShapeHints& hints) {
  ShapeChoice choice;
  const std::vector<ShapeSet> none(1);
  for (const auto& set : wanted.empty() ? none : wanted) {
    RL_TRY(check_wanted_set(inputs, set, hints));
    SetBuilder(inputs, set, hints).build(choice);
  }
  return choice;
}

}  // namespace ridgeline::workload
