// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/chosen_values.hpp"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "workload/element_type.hpp"
#include "workload/messages.hpp"
#include "workload/onnx/dim_role.hpp"
#include "workload/onnx/given_values.hpp"
#include "workload/onnx/input_uses.hpp"
#include "workload/onnx/known_values.hpp"
#include "workload/onnx/resolved_values.hpp"
#include "workload/onnx/values_by_name.hpp"

namespace ridgeline::workload {
namespace {

using schema::InputValues;
using schema::ShapeSet;
using schema::TensorDescription;

constexpr std::size_t kMostConditions = 2;  // whose branches are combined in every way

/// What of `one`, for a batch of `batch`, grows with it as `two`, for twice that, tells.
InputValues with_slopes(InputValues one, const std::optional<InputValues>& two, std::int64_t batch) {
  if (!two || batch < 1 || two->elements.size() != one.elements.size()) return one;
  const auto slope = [&](std::int64_t from, std::int64_t to) {
    return (to - from) % batch == 0 ? (to - from) / batch : 0;
  };
  one.high_per_batch = slope(one.high, two->high);
  one.high -= one.high_per_batch * batch;
  bool grows = false;
  for (std::size_t at = 0; at < one.elements.size(); ++at) {
    one.per_batch.push_back(slope(one.elements[at], two->elements[at]));
    one.elements[at] -= one.per_batch[at] * batch;
    grows = grows || one.per_batch[at] != 0;
  }
  if (!grows) one.per_batch.clear();
  return one;
}

/// One shape set being filled in, and where it goes on to branches.
struct Member {
  ShapeSet shapes;
  std::vector<InputValues> values;
  struct Condition {
    std::string input;
    std::vector<BranchValue> alternatives;
  };
  std::vector<Condition> conditions;
};

/// What becomes a shape set: one way through the conditions of a member.
struct Branch {
  std::size_t set = 0;  ///< of the description
  ShapeSet shapes;
  std::vector<InputValues> values;
  std::size_t conditions = 0;                                      ///< how many of the last values choose a branch
  messages::BranchValuesEnd end = messages::BranchValuesEnd::own;  ///< of the note on these
  std::vector<std::string> refitted{};                             ///< its shapes that others do not have, "x:1x256"
};

class Chooser {
 public:
  Chooser(const onnx::ModelProto& model, const schema::ModelDescription& description, const schema::WorkloadRef& asked,
          const RefitShapes& refit)
      : model_(model), description_(description), asked_(asked), refit_(refit) {}

  base::Result<ValueChoice> run() {
    RL_TRY(check_names());
    for (std::size_t set = 0; set < description_.shapes.size(); ++set) {
      RL_TRY_ASSIGN(const auto member, fill(description_.shapes[set]));
      add_branches(set, member);
    }
    RL_TRY(refit_branches());
    drop_refused_branches();
    for (auto& branch : branches_) {
      choice_.sets.push_back(std::move(branch.shapes));
      choice_.values.push_back(std::move(branch.values));
    }
    if (std::all_of(choice_.values.begin(), choice_.values.end(), [](const auto& one) { return one.empty(); }))
      choice_.values.clear();
    return std::move(choice_);
  }

 private:
  [[nodiscard]] base::Result<void> check_names() const {
    std::vector<std::string> names;
    for (const auto& input : description_.inputs) names.push_back(input.name);
    for (const auto& given : asked_.given_values)
      if (std::find(names.begin(), names.end(), given.name) == names.end())
        return base::fail(base::ErrorCode::invalid_argument,
                          "--input {}={}: the model has no such input; its inputs: {}", given.name, given.text,
                          fmt::join(names, ", "))
            .hint("{}", base::did_you_mean(given.name, names));
    return {};
  }

  [[nodiscard]] const schema::GivenValue* given(const std::string& name) const {
    for (const auto& one : asked_.given_values)
      if (one.name == name) return &one;
    return nullptr;
  }

  [[nodiscard]] bool is_from_file(const std::string& name) const {
    return std::any_of(asked_.input_files.begin(), asked_.input_files.end(),
                       [&](const auto& file) { return file.name == name; });
  }

  void note(schema::Message message) {
    if (std::find(choice_.notes.begin(), choice_.notes.end(), message) == choice_.notes.end())
      choice_.notes.push_back(std::move(message));
  }

  void note_values(const InputValues& values, const ShapeSet& set, std::int64_t batch) {
    const auto* dims = dims_in(set, values.name);
    const bool scalar = dims != nullptr && dims->empty();
    note(messages::input_values(
        {.input = values.name, .scalar = scalar, .values = schema::values_text(values, batch), .why = values.reason}));
  }

  base::Result<Member> fill(const ShapeSet& set) {
    const auto& inputs = description_.inputs;
    const auto batch = batch_of(inputs, set);
    const auto uses = collect_input_uses(model_, set);
    const auto uses_of_two =
        batch > 0 ? collect_input_uses(model_, with_batch(inputs, set, 2 * batch)) : std::vector<InputUse>();
    Member member{set, {}, {}};
    for (const auto& input : inputs) {
      if (const auto* one = given(input.name)) {
        RL_TRY_ASSIGN(auto values, read_given_value(*one, input));
        note_values(values, set, batch);
        member.values.push_back(std::move(values));
        continue;
      }
      if (is_from_file(input.name)) continue;
      const bool whole = whole_numbers_of(input.element_type).has_value();
      auto resolved = resolve_values(input, set, uses);
      if (whole && resolved.alternatives.size() > 1) {
        member.conditions.push_back({input.name, std::move(resolved.alternatives)});
        continue;
      }
      auto values = std::move(resolved.values);
      if (values)
        values = with_slopes(*std::move(values),
                             resolve_values(input, with_batch(inputs, set, 2 * batch), uses_of_two).values, batch);
      if (!values && whole) values = values_by_name(input, inputs, set);
      if (values) {
        note_values(*values, set, batch);
        if (!whole) use_real(*values);
        member.values.push_back(*std::move(values));
      } else if (whole) {
        note(messages::input_drawn(
            {.input = input.name, .values = drawn_by_type(input.element_type, dims_in(set, input.name))}));
      }
    }
    return member;
  }

  /// A floating-point argument has the same value everywhere or stays as it is, one by one.
  static void use_real(InputValues& values) {
    if (values.elements.size() == 1 && values.per_batch.empty()) {
      values.real = static_cast<double>(values.elements[0]);
      values.elements.clear();
    }
  }

  void add_branches(std::size_t set, const Member& member) {
    std::size_t most = 1;
    for (const auto& condition : member.conditions) most = std::max(most, condition.alternatives.size());
    std::vector<std::vector<std::size_t>> picks;  // of each set, which alternative of each condition
    if (member.conditions.size() > kMostConditions) {
      for (std::size_t at = 0; at < most; ++at) {
        auto& pick = picks.emplace_back();
        for (const auto& condition : member.conditions) pick.push_back(std::min(at, condition.alternatives.size() - 1));
      }
    } else {
      picks.emplace_back();
      for (const auto& condition : member.conditions) {
        std::vector<std::vector<std::size_t>> longer;
        for (const auto& pick : picks)
          for (std::size_t at = 0; at < condition.alternatives.size(); ++at) {
            longer.push_back(pick);
            longer.back().push_back(at);
          }
        picks = std::move(longer);
      }
    }
    for (const auto& pick : picks) {
      auto values = member.values;
      for (std::size_t at = 0; at < pick.size(); ++at) {
        const auto& condition = member.conditions[at];
        const auto& chosen = condition.alternatives[pick[at]];
        InputValues one;
        one.name = condition.input;
        one.elements = {static_cast<std::int64_t>(chosen.value)};
        one.reason = messages::takes_branch(chosen.branches);
        values.push_back(std::move(one));
      }
      branches_.push_back({set, member.shapes, std::move(values), pick.size()});
    }
  }

  [[nodiscard]] bool is_refused(const Branch& branch) const {
    return branch.conditions > 0 && !infer_shapes(model_, branch.shapes, [](const TypedNode&) {},
                                                  {known_values(description_, branch.shapes, branch.values), {}})
                                         .contradictions.empty();
  }

  /// A branch may be written for other shapes than the others.
  base::Result<void> refit_branches() {
    for (auto& branch : branches_) {
      if (!is_refused(branch)) continue;
      auto shapes = refit_(branch.set, known_values(description_, branch.shapes, branch.values));
      if (!shapes) continue;
      RL_TRY_ASSIGN(auto member, fill(*shapes));
      Branch other{branch.set, *shapes, std::move(member.values), branch.conditions,
                   messages::BranchValuesEnd::refitted};
      other.values.insert(other.values.end(), branch.values.end() - static_cast<std::ptrdiff_t>(branch.conditions),
                          branch.values.end());
      if (is_refused(other)) continue;
      for (const auto& shape : *shapes)
        if (const auto* dims = dims_in(branch.shapes, shape.name); dims != nullptr && *dims != shape.dims)
          other.refitted.push_back(fmt::format("{}:{}", shape.name, shape_text(shape.dims)));
      branch = std::move(other);
    }
    return {};
  }

  /// What refuses its shapes would end every trial.
  void drop_refused_branches() {
    std::vector<Branch> kept;
    std::vector<Branch> refused;
    for (auto& branch : branches_) (is_refused(branch) ? refused : kept).push_back(std::move(branch));
    if (kept.empty()) kept = std::exchange(refused, {});
    for (auto& branch : refused) branch.end = messages::BranchValuesEnd::refused;
    for (const auto* group : {&kept, &refused})
      for (const auto& branch : *group) note_conditions(branch);
    branches_ = std::move(kept);
  }

  void note_conditions(const Branch& branch) {
    for (auto one = branch.values.end() - static_cast<std::ptrdiff_t>(branch.conditions); one != branch.values.end();
         ++one)
      note(messages::branch_values({.input = one->name,
                                    .values = schema::values_text(*one, 0),
                                    .why = one->reason,
                                    .end = branch.end,
                                    .shapes = branch.refitted}));
  }

  const onnx::ModelProto& model_;
  const schema::ModelDescription& description_;
  const schema::WorkloadRef& asked_;
  const RefitShapes& refit_;
  ValueChoice choice_;
  std::vector<Branch> branches_;
};

}  // namespace

base::Result<ValueChoice> choose_values(const onnx::ModelProto& model, const schema::ModelDescription& description,
                                        const schema::WorkloadRef& asked, const RefitShapes& refit) {
  return Chooser(model, description, asked, refit).run();
}

}  // namespace ridgeline::workload
