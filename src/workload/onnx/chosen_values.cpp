// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/chosen_values.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "workload/element_type.hpp"
#include "workload/onnx/dim_role.hpp"
#include "workload/onnx/given_values.hpp"
#include "workload/onnx/input_uses.hpp"

namespace ridgeline::workload {
namespace {

using schema::InputValues;
using schema::ShapeSet;
using schema::TensorDescription;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostConditions = 2;  // whose branches are combined in every way
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

/// One value that an input takes for the sake of a branch.
struct Alternative {
  double value = 0;
  std::string branch;  ///< "the then branch of If "y""
};

struct Resolved {
  std::optional<InputValues> values;
  std::vector<Alternative> alternatives;
};

const std::vector<std::int64_t>* dims_in(const ShapeSet& set, const std::string& name) {
  for (const auto& shape : set)
    if (shape.name == name) return &shape.dims;
  return nullptr;
}

std::string join_reasons(const std::vector<std::string>& reasons) {
  const auto shown = std::min(reasons.size(), kMostReasons);
  auto text = fmt::format("{}", fmt::join(reasons.begin(), reasons.begin() + static_cast<std::ptrdiff_t>(shown), "; "));
  if (reasons.size() > shown) text += fmt::format("; and {} more", reasons.size() - shown);
  return text;
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
  std::vector<std::string> reasons;
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
  values.reason = join_reasons(reasons);
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

std::vector<Alternative> alternatives_of(const std::vector<const InputUse*>& uses) {
  std::vector<Alternative> found;
  const auto add = [&](double value, const std::string& branch) {
    const auto known = std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.value == value; });
    if (known == found.end())
      found.push_back({value, branch});
    else if (known->branch.find(branch) == std::string::npos)
      known->branch += " and " + branch;
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
    add(use->exact, "the then branch of " + use->reason);
    add(otherwise, "the else branch of " + use->reason);
  }
  return found;
}

Resolved resolve(const TensorDescription& input, const ShapeSet& set, const std::vector<InputUse>& all_uses) {
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

double batch_of(const std::vector<TensorDescription>& inputs, const ShapeSet& set) {
  for (const auto& input : inputs)
    if (const auto axis = dynamic_batch_axis(input))
      if (const auto* dims = dims_in(set, input.name); dims != nullptr && *axis < dims->size())
        return static_cast<double>((*dims)[*axis]);
  return 0;
}

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

bool has_word(const std::string& name, std::string_view word) {
  std::string lower = name;
  for (auto& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower.find(word) != std::string::npos;
}

/// What an input's name says where the graph does not.
std::optional<InputValues> by_name(const TensorDescription& input, const std::vector<TensorDescription>& inputs,
                                   const ShapeSet& set) {
  InputValues values;
  values.name = input.name;
  if (has_word(input.name, "mask")) {
    values.elements = {1};
    values.reason = "a mask by its name";
    return values;
  }
  if (input.element_type == "bool") return std::nullopt;
  if (has_word(input.name, "_idx") || has_word(input.name, "_index")) {
    values.elements = {0};
    values.reason = "an index by its name";
    return values;
  }
  if (!has_word(input.name, "len")) return std::nullopt;
  for (const auto& other : inputs)
    for (std::size_t axis = 0; axis < other.dims.size(); ++axis) {
      const auto role = role_of_dim_name(other.dim_names[axis]);
      const auto* dims = dims_in(set, other.name);
      if (other.name == input.name || dims == nullptr || axis >= dims->size() || other.dims[axis] >= 0) continue;
      if (role != DimRole::sequence && role != DimRole::samples && role != DimRole::frames) continue;
      values.elements = {(*dims)[axis]};
      values.reason = fmt::format("a length by its name: that of {}", other.name);
      return values;
    }
  return std::nullopt;
}

/// One shape set being filled in, and where it goes on to branches.
struct Member {
  ShapeSet shapes;
  std::vector<InputValues> values;
  struct Condition {
    std::string input;
    std::vector<Alternative> alternatives;
  };
  std::vector<Condition> conditions;
};

class Chooser {
 public:
  Chooser(const onnx::ModelProto& model, const schema::ModelDescription& description, const schema::WorkloadRef& asked)
      : model_(model), description_(description), asked_(asked) {}

  base::Result<ValueChoice> run() {
    RL_TRY(check_names());
    for (const auto& set : description_.shapes) {
      RL_TRY_ASSIGN(auto member, fill(set));
      add_branches(member);
    }
    drop_refused_branches();
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

  void note(std::string text) {
    if (std::find(choice_.notes.begin(), choice_.notes.end(), text) == choice_.notes.end())
      choice_.notes.push_back(std::move(text));
  }

  void note_values(const InputValues& values, const ShapeSet& set, std::int64_t batch) {
    const auto* dims = dims_in(set, values.name);
    const bool scalar = dims != nullptr && dims->empty();
    note(fmt::format("{}: {}{}, {}", values.name, scalar ? "scalar = " : "", schema::values_text(values, batch),
                     values.reason));
  }

  base::Result<Member> fill(const ShapeSet& set) {
    const auto& inputs = description_.inputs;
    const auto batch = static_cast<std::int64_t>(batch_of(inputs, set));
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
      auto resolved = resolve(input, set, uses);
      if (whole && resolved.alternatives.size() > 1) {
        member.conditions.push_back({input.name, std::move(resolved.alternatives)});
        continue;
      }
      auto values = std::move(resolved.values);
      if (values)
        values = with_slopes(*std::move(values), resolve(input, with_batch(inputs, set, 2 * batch), uses_of_two).values,
                             batch);
      if (!values && whole) values = by_name(input, inputs, set);
      if (values) {
        note_values(*values, set, batch);
        if (!whole) use_real(*values);
        member.values.push_back(*std::move(values));
      } else if (whole) {
        note(fmt::format(
            "{}: {}, as the graph does not say what it is; give it with --input {}=LOW..HIGH or --input "
            "{}:FILE.npy",
            input.name, drawn_by_type(input.element_type, dims_in(set, input.name)), input.name, input.name));
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

  void add_branches(const Member& member) {
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
        one.reason = fmt::format("takes {}", chosen.branch);
        values.push_back(std::move(one));
      }
      choice_.sets.push_back(member.shapes);
      choice_.values.push_back(std::move(values));
      branches_.push_back(pick.size());
    }
  }

  /// Branches are often written for other shapes. What they refuse would end every trial.
  void drop_refused_branches() {
    std::vector<bool> refused;
    for (std::size_t at = 0; at < choice_.sets.size(); ++at)
      refused.push_back(branches_[at] > 0 &&
                        !infer_shapes(model_, choice_.sets[at], [](const TypedNode&) {},
                                      {known_values(description_, choice_.sets[at], choice_.values[at]), {}})
                             .contradictions.empty());
    const bool drop = std::find(refused.begin(), refused.end(), false) != refused.end();
    ValueChoice kept;
    kept.notes = choice_.notes;
    for (std::size_t at = 0; at < choice_.sets.size(); ++at) {
      const bool dropped = drop && refused[at];
      const auto& values = choice_.values[at];
      for (auto one = values.end() - static_cast<std::ptrdiff_t>(branches_[at]); one != values.end(); ++one) {
        const auto text =
            fmt::format("{}: {}, {}{}", one->name, schema::values_text(*one, 0), one->reason,
                        dropped ? ", which refuses these shapes and is left out" : "; a shape set of its own");
        if (std::find(kept.notes.begin(), kept.notes.end(), text) == kept.notes.end()) kept.notes.push_back(text);
      }
      if (dropped) continue;
      kept.sets.push_back(std::move(choice_.sets[at]));
      kept.values.push_back(values);
    }
    choice_ = std::move(kept);
  }

  const onnx::ModelProto& model_;
  const schema::ModelDescription& description_;
  const schema::WorkloadRef& asked_;
  ValueChoice choice_;
  std::vector<std::size_t> branches_;  // how many of the last values of each set choose a branch
};

}  // namespace

std::string drawn_by_type(const std::string& element_type, const std::vector<std::int64_t>* dims) {
  const auto type = element_type_from_name(element_type);
  const int bits = type ? element_bits(*type) : 0;
  if (type == ElementType::boolean) return "0 or 1";
  if (bits == 8 || bits == 16) return "0..127";
  return dims != nullptr && element_count(*dims).value_or(0) == 1 ? "1" : "0 or 1";
}

base::Result<ValueChoice> choose_values(const onnx::ModelProto& model, const schema::ModelDescription& description,
                                        const schema::WorkloadRef& asked) {
  return Chooser(model, description, asked).run();
}

std::map<std::string, SmallTensor> known_values(const schema::ModelDescription& description, const ShapeSet& shapes,
                                                const std::vector<InputValues>& values) {
  std::map<std::string, SmallTensor> known;
  const auto batch = static_cast<std::int64_t>(batch_of(description.inputs, shapes));
  for (const auto& one : values) {
    const auto* dims = dims_in(shapes, one.name);
    const auto input = std::find_if(description.inputs.begin(), description.inputs.end(),
                                    [&](const auto& each) { return each.name == one.name; });
    const auto count = dims != nullptr ? small_count(*dims, kMostElements) : std::nullopt;
    if (!count || input == description.inputs.end() || (one.elements.empty() && !one.real)) continue;
    const auto type = element_type_from_name(input->element_type);
    if (type != ElementType::int64 && type != ElementType::int32 && type != ElementType::boolean &&
        type != ElementType::float32 && type != ElementType::float64)
      continue;
    SmallTensor tensor{static_cast<int>(*type), *dims, {}};
    for (std::size_t at = 0; at < *count; ++at) {
      const auto element = one.elements.size() == 1 ? 0 : at;
      const bool missing = !one.real && element >= one.elements.size();
      tensor.values.push_back(
          missing    ? 0
          : one.real ? *one.real
                     : static_cast<double>(one.elements[element] +
                                           (element < one.per_batch.size() ? one.per_batch[element] * batch : 0)));
    }
    known.emplace(one.name, std::move(tensor));
  }
  return known;
}

}  // namespace ridgeline::workload
