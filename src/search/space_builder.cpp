// SPDX-License-Identifier: Apache-2.0
#include "search/space_builder.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "schema/catalog.hpp"
#include "schema/message_renderer.hpp"
#include "search/constraint_expression.hpp"
#include "search/cpu_budget.hpp"
#include "search/gpu_rules.hpp"
#include "search/messages.hpp"
#include "search/model_facts.hpp"
#include "search/named_space.hpp"
#include "search/pruning.hpp"
#include "search/relevance.hpp"
#include "search/torch_rules.hpp"
#include "search/values_to_try.hpp"

namespace ridgeline::search {
namespace {

using base::ErrorCode;
using base::Result;
using schema::Configuration;
using schema::Dimension;
using schema::ParamDef;
using schema::Value;

std::int64_t affinity_groups(std::string_view text) { return std::count(text.begin(), text.end(), ';') + 1; }

bool affinities_match(const Configuration& configuration) {
  const auto* affinities = configuration.find("intra_op_thread_affinities");
  if (affinities == nullptr || affinities->as_text().empty()) return true;
  return configuration.get_or("intra_op_num_threads", 0).as_integer() == affinity_groups(affinities->as_text()) + 1;
}

std::string text_of(const schema::Message& reason) { return schema::text_of(reason, messages::table()); }

class SpaceBuild {
 public:
  explicit SpaceBuild(const SpaceInput& input)
      : input_(input), request_(input.request), cpu_(cpu_budget(input.environment)) {}

  Result<BuiltSpace> run() {
    RL_TRY(check_request());
    for (const auto& param : schema::catalog()) {
      RL_TRY(check_asked(param));
      RL_TRY(check_values(param));
      add(param);
    }
    RL_TRY(add_machine_rules());
    RL_TRY(add_constraints());
    return BuiltSpace{SearchSpace(std::move(dimensions_), std::move(fixed_), std::move(rules_), request_.always_set),
                      std::move(pruned_)};
  }

 private:
  Result<void> check_request() const {
    std::set<std::string> listed;
    for (const auto& dimension : request_.values) {
      RL_TRY_ASSIGN(const auto* param, schema::require_param(dimension.key));
      if (!listed.insert(dimension.key).second)
        return base::fail(ErrorCode::invalid_argument, "{} is listed twice in the space", dimension.key)
            .hint("list all its values once");
      if (dimension.values.empty())
        return base::fail(ErrorCode::invalid_argument,
                          "{} is listed in the space without values; expected at least one", dimension.key);
      for (const auto& value : dimension.values) RL_TRY(schema::check_value(*param, value));
    }
    RL_TRY(schema::check_configuration(request_.fixed));
    RL_TRY(check_pinned_affinities());
    RL_TRY(check_io_request(input_));
    for (const auto& key : request_.exclude) {
      RL_TRY(schema::require_param(key));
      if (listed.count(key) != 0)
        return base::fail(ErrorCode::invalid_argument, "{} is both excluded and listed with values", key)
            .hint("keep one of the two");
    }
    return {};
  }

  Result<void> check_pinned_affinities() const {
    const auto* affinities = request_.fixed.find("intra_op_thread_affinities");
    if (affinities == nullptr || affinities->as_text().empty() || affinities_match(request_.fixed)) return {};
    return base::fail(
               ErrorCode::invalid_argument,
               "intra_op_thread_affinities={} needs intra_op_num_threads={} (one group for each thread but the first)",
               affinities->to_text(), affinity_groups(affinities->as_text()) + 1)
        .hint("pin that too");
  }

  const Dimension* requested(const std::string& key) const {
    for (const auto& dimension : request_.values)
      if (dimension.key == key) return &dimension;
    return nullptr;
  }

  /// What the command line asks for is never left out without a word.
  Result<void> check_asked(const ParamDef& param) const {
    const auto asked = request_.asked_by.find(param.key);
    if (asked == request_.asked_by.end()) return {};
    const auto reason = why_impossible(param, input_);
    if (!reason) return {};
    if (param.key != "batch_size")
      return base::fail(ErrorCode::invalid_argument, "{}: {}", asked->second, text_of(*reason)).hint("leave it out");
    const auto* pin = request_.fixed.find(param.key);
    if (pin != nullptr && *pin == Value(input_.model.batch_axis_size.value_or(1))) return {};  // what is run anyway
    const auto flag = asked->second.substr(0, asked->second.find_first_of(" ="));
    return base::fail(ErrorCode::invalid_argument, "{}: {}", asked->second, text_of(why_batch_fixed(input_)))
        .hint("{}leave {} out", is_code(input_.model) ? "" : "export it with a dynamic batch, or ", flag);
  }

  /// Values that cannot be are left out, but not the last one of those asked for.
  Result<void> check_values(const ParamDef& param) const {
    const auto* wanted = requested(param.key);
    const auto* pin = request_.fixed.find(param.key);
    std::vector<Value> values = wanted != nullptr ? wanted->values : std::vector<Value>{};
    if (pin != nullptr) values = {*pin};
    schema::Message last;
    std::vector<std::string> texts;
    for (const auto& value : values) {
      auto reason = why_impossible(param, value, input_);
      if (!reason) return {};
      last = std::move(*reason);
      texts.push_back(value.to_text());
    }
    if (texts.empty()) return {};
    const auto asked = request_.asked_by.find(param.key);
    return base::fail(ErrorCode::invalid_argument, "{}: {}",
                      asked != request_.asked_by.end() ? asked->second
                                                       : fmt::format("{}={}", param.key, fmt::join(texts, ", ")),
                      text_of(last))
        .hint("give another value, or leave it out");
  }

  void add(const ParamDef& param) {
    const auto* wanted = requested(param.key);
    const auto* pin = request_.fixed.find(param.key);
    const auto drop = [&](schema::Message reason) { pruned_.push_back({param.key, {}, std::move(reason)}); };
    if (auto reason = why_impossible(param, input_)) {
      // A setting of another provider is no news, unless the user asked for it.
      if (schema::is_for(param, input_.provider) || wanted != nullptr || pin != nullptr) drop(std::move(*reason));
      return;
    }
    if (pin != nullptr) {
      fixed_.set(param.key, *pin);
      return drop(messages::pinned(pin->to_text()));
    }
    if (wanted != nullptr) {
      auto& values = dimensions_.emplace_back(Dimension{param.key, {}}).values;
      for (const auto& value : wanted->values) {
        if (auto reason = why_impossible(param, value, input_))
          pruned_.push_back({param.key, {value}, std::move(*reason)});
        else
          values.push_back(value);
      }
      // Unset means device there.
      if (param.key == "io_binding" && data_on_device(input_)) std::erase(dimensions_.back().values, Value("device"));
      return;
    }
    if (std::find(request_.exclude.begin(), request_.exclude.end(), param.key) != request_.exclude.end())
      return drop(messages::excluded());
    if (request_.only_listed) return drop(messages::not_listed());
    if (auto reason = why_pointless(param, input_)) return drop(std::move(*reason));
    Dimension dimension{param.key, {}};
    for (const auto& value : values_to_try(param, input_)) {
      if (auto reason = why_pointless(param, value, input_))
        pruned_.push_back({param.key, {value}, std::move(*reason)});
      else
        dimension.values.push_back(value);
    }
    if (param.key == "intra_op_num_threads") note_thread_counts(param.key);
    if (!dimension.values.empty()) dimensions_.push_back(std::move(dimension));
  }

  /// Thread counts a person would expect from the core count, but that the GPU or the quota makes useless.
  void note_thread_counts(const std::string& key) {
    if (on_gpu(input_)) {
      if (cpu_.physical > 1) pruned_.push_back({key, {cpu_.physical}, messages::one_thread_on_gpu()});
      return;
    }
    if (cpu_.usable >= cpu_.logical) return;
    std::set<int> beyond;
    for (const int count : {cpu_.physical, cpu_.logical})
      if (count > cpu_.usable) beyond.insert(count);
    schema::PrunedParam note{
        key, {}, messages::beyond_quota({.usable = input_.environment.usable_cpus, .logical = cpu_.logical})};
    for (const int count : beyond) note.values.emplace_back(count);
    if (!note.values.empty()) pruned_.push_back(std::move(note));
  }

  /// Checked at once, so that the rule to blame is the one just added.
  Result<void> add_rule(SpaceRule rule) {
    rules_.push_back(std::move(rule));
    return check_reachable();
  }

  Result<void> add_machine_rules() {
    // On a GPU the sessions' threads only launch kernels.
    const bool sessions_are_ours =
        !on_gpu(input_) && requested("parallel_sessions") == nullptr && !request_.fixed.contains("parallel_sessions");
    if (sessions_are_ours) {
      const auto allows = [cpu = cpu_](const Configuration& configuration) {
        const auto sessions = configuration.get_or("parallel_sessions", 1).as_integer();
        const auto threads = configuration.get_or("intra_op_num_threads", 0).as_integer();
        return sessions <= 1 || sessions * (threads > 0 ? threads : cpu.physical) <= cpu.usable;
      };
      RL_TRY(add_rule({fmt::format("sessions x threads stay within {} usable cores", cpu_.usable),
                       allows,
                       {"intra_op_num_threads", "parallel_sessions"}}));
    }
    RL_TRY(add_rule({"intra_op_thread_affinities names one group for each thread but the first",
                     affinities_match,
                     {"intra_op_thread_affinities", "intra_op_num_threads"}}));
    for (auto& rule : gpu_rules(input_)) RL_TRY(add_rule(std::move(rule)));
    for (auto& rule : torch_rules(input_)) RL_TRY(add_rule(std::move(rule)));
    return {};
  }

  Result<void> add_constraints() {
    const std::map<std::string, double> automatic{{"intra_op_num_threads", cpu_.physical},
                                                  {"inter_op_num_threads", cpu_.physical}};
    for (const auto& text : request_.constraints) {
      RL_TRY_ASSIGN(auto expression, ConstraintExpression::parse(text));
      for (const auto& key : expression.keys())
        if (find_dimension(key) == nullptr && !fixed_.contains(key) && !schema::find_param(key)->default_value)
          return base::fail(ErrorCode::invalid_argument,
                            "constraint \"{}\": {} is not searched here and has no fixed default", text, key)
              .hint("list or pin it");
      auto keys = expression.keys();
      const auto holds = [expression = std::move(expression), automatic](const Configuration& configuration) {
        return expression.holds(configuration, automatic);
      };
      RL_TRY(add_rule({text, holds, std::move(keys)}));
    }
    return {};
  }

  const Dimension* find_dimension(const std::string& key) const {
    for (const auto& dimension : dimensions_)
      if (dimension.key == key) return &dimension;
    return nullptr;
  }

  /// Whether any configuration is left by the rules so far; the last one added is to blame if not. Only the keys that
  /// the rules look at, and those that decide what is relevant, are varied.
  Result<void> check_reachable() const {
    std::set<std::string> keys;
    for (const auto& rule : rules_) keys.insert(rule.keys.begin(), rule.keys.end());
    keys.insert(request_.always_set.begin(), request_.always_set.end());
    std::vector<Dimension> varied;
    for (const auto& dimension : dimensions_)
      if (keys.count(dimension.key) != 0 || dimension.key == "execution_mode") varied.push_back(dimension);
    if (!SearchSpace(std::move(varied), fixed_, rules_, request_.always_set).enumerate(1).empty()) return {};
    return base::fail(ErrorCode::invalid_argument, "constraint \"{}\" is unreachable: no candidate values{} meet it",
                      rules_.back().text, fixed_.empty() ? "" : " beside the pinned settings")
        .hint("loosen it or list other values");
  }

  const SpaceInput& input_;
  const SpaceRequest& request_;
  CpuBudget cpu_;
  std::vector<Dimension> dimensions_;
  Configuration fixed_;
  std::vector<SpaceRule> rules_;
  std::vector<schema::PrunedParam> pruned_;
};

}  // namespace

Result<BuiltSpace> build_space(const SpaceInput& input) {
  if (input.request.named.empty()) return SpaceBuild(input).run();
  auto written_out = input;
  RL_TRY_ASSIGN(written_out.request, resolve_named_space(input));
  return SpaceBuild(written_out).run();
}

}  // namespace ridgeline::search
