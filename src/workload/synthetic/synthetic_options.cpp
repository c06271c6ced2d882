// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/synthetic_options.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "base/text.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using base::Result;
using schema::TrialPhase;

constexpr std::string_view kLocationPrefix = "synthetic:";
constexpr base::Nanoseconds kLongestStep = std::chrono::seconds(3600);
constexpr double kLargestRatio = 1000;
constexpr double kLeastMultiple = 0.01;
constexpr double kMostMultiple = 1000;
constexpr std::int64_t kMostCores = 1024;
constexpr double kLeastDuty = 0.001;
constexpr double kMostDuty = 0.999;
constexpr base::Nanoseconds kShortestBurst = std::chrono::microseconds(100);
constexpr double kLargestSpeedup = -0.99;  ///< as a slowdown: a hundredth of the time

/// "a if b=c" into "a" and its conditions' text.
struct Clause {
  std::string value;
  std::string condition;
};
Clause split_clause(std::string_view text) {
  const auto at = text.find(" if ");
  if (at == std::string_view::npos) return {std::string(base::trim(text)), ""};
  return {std::string(base::trim(text.substr(0, at))), std::string(base::trim(text.substr(at + 4)))};
}

Result<SettingCondition> parse_condition(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return base::fail(ErrorCode::invalid_argument, "condition \"{}\" is not of the form key=value or key!=value", text);
  const bool negated = text[equals - 1] == '!';
  const auto key = base::trim(text.substr(0, negated ? equals - 1 : equals));
  RL_TRY_ASSIGN(const auto* param, schema::require_param(key));
  RL_TRY_ASSIGN(auto value, schema::parse_value(*param, base::trim(text.substr(equals + 1))));
  return SettingCondition{param->key, std::move(value), negated};
}

/// `item` is named in errors: several items of one text may have conditions.
Result<SettingConditions> parse_conditions(std::string_view text, std::string_view item) {
  constexpr std::string_view kAnd = " and ";
  SettingConditions conditions;
  while (!text.empty()) {
    const auto at = text.find(kAnd);
    auto condition = parse_condition(base::trim(text.substr(0, at)));
    if (!condition) return tl::unexpected<base::Error>(std::move(condition).error().in(item));
    conditions.push_back(std::move(*condition));
    text = at == std::string_view::npos ? std::string_view{} : text.substr(at + kAnd.size());
  }
  return conditions;
}

template <typename E>
Result<E> parse_enum(std::string_view text, std::string_view what) {
  if (const auto value = base::enum_from_name<E>(text)) return *value;
  std::vector<std::string> names;
  std::string listed;
  for (const auto& [value, name] : base::EnumNames<E>::names) {
    names.emplace_back(name);
    listed += (listed.empty() ? "" : ", ") + std::string(name);
  }
  return base::fail(ErrorCode::invalid_argument, "unknown {} \"{}\"; known: {}", what, text, listed)
      .hint("{}", base::did_you_mean(text, names));
}

TrialPhase usual_phase(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::oom:
    case FaultKind::invalid:
    case FaultKind::unsupported: return TrialPhase::create_session;
    case FaultKind::nan: return TrialPhase::verify;
    default: return TrialPhase::measure;
  }
}

Result<Fault> parse_fault(std::string_view text) {
  const auto clause = split_clause(text);
  const auto at = clause.value.find('@');
  Fault fault;
  RL_TRY_ASSIGN(fault.kind, parse_enum<FaultKind>(clause.value.substr(0, at), "fault"));
  fault.phase = usual_phase(fault.kind);
  if (at != std::string::npos) {
    RL_TRY_ASSIGN(fault.phase, parse_enum<TrialPhase>(clause.value.substr(at + 1), "phase"));
    if (fault.phase == TrialPhase::launch)
      return base::fail(ErrorCode::invalid_argument, "fault {} cannot be in the phase launch: no workload exists yet",
                        clause.value)
          .hint("use load_runtime");
    if (fault.kind == FaultKind::nan && fault.phase != TrialPhase::verify)
      return base::fail(ErrorCode::invalid_argument, "fault nan is only possible in the phase verify, not {}",
                        base::enum_name(fault.phase));
  }
  RL_TRY_ASSIGN(fault.when, parse_conditions(clause.condition, fmt::format("fault={}", clause.value)));
  return fault;
}

Result<std::int64_t> integer_within(std::string_view text, std::string_view name, std::int64_t low, std::int64_t high) {
  RL_TRY_ASSIGN(const auto value, base::parse_integer(text, name));
  if (value < low || value > high)
    return base::fail(ErrorCode::invalid_argument, "{}={} is outside {}..{}", name, value, low, high);
  return value;
}

Result<double> ratio_within(std::string_view text, std::string_view name, double low, double high) {
  RL_TRY_ASSIGN(const auto value, base::parse_ratio(text, name));
  if (value < low || value > high)
    return base::fail(ErrorCode::invalid_argument, "{}={} is outside {:g}%..{:g}%", name, text, low * 100, high * 100);
  return value;
}

Result<double> number_within(std::string_view text, std::string_view name, double low, double high) {
  RL_TRY_ASSIGN(const auto value, base::parse_number(text, name));
  if (value < low || value > high)
    return base::fail(ErrorCode::invalid_argument, "{}={} is outside {:g}..{:g}", name, text, low, high);
  return value;
}

/// "3% if key=value" for slowdown and accuracy.
template <typename T>
Result<T> parse_conditional_ratio(std::string_view text, std::string_view name, double low) {
  const auto clause = split_clause(text);
  T item;
  RL_TRY_ASSIGN(item.ratio, ratio_within(clause.value, name, low, kLargestRatio));
  RL_TRY_ASSIGN(item.when, parse_conditions(clause.condition, fmt::format("{}={}", name, clause.value)));
  return item;
}

Result<base::Nanoseconds> duration_up_to_an_hour(std::string_view text, std::string_view name) {
  RL_TRY_ASSIGN(const auto value, base::parse_duration(text, name));
  if (value > kLongestStep) return base::fail(ErrorCode::invalid_argument, "{}={} is longer than an hour", name, text);
  return value;
}

/// "2x": 0.01x to 1000x.
Result<double> multiple(std::string_view text, std::string_view name) {
  const auto number = base::trim(text);
  if (number.empty() || number.back() != 'x')
    return base::fail(ErrorCode::invalid_argument, "{}={}: expected how many times as long, as in {}=2x", name, text,
                      name);
  return number_within(number.substr(0, number.size() - 1), name, kLeastMultiple, kMostMultiple);
}

/// "2x@60s..120s if key=value".
Result<Step> parse_step(std::string_view text) {
  const auto clause = split_clause(text);
  const auto at = clause.value.find('@');
  const auto dots = clause.value.find("..");
  if (at == std::string::npos || dots == std::string::npos || dots < at)
    return base::fail(ErrorCode::invalid_argument, "step={}: expected step=2x@60s..120s", clause.value);
  const std::string_view value = clause.value;
  Step step;
  RL_TRY_ASSIGN(step.size, multiple(value.substr(0, at), "step"));
  const auto from = base::trim(value.substr(at + 1, dots - at - 1));
  if (from != "0" && from != "0s") {
    RL_TRY_ASSIGN(step.from, duration_up_to_an_hour(from, "step"));
  }
  RL_TRY_ASSIGN(step.to, duration_up_to_an_hour(value.substr(dots + 2), "step"));
  if (step.to <= step.from)
    return base::fail(ErrorCode::invalid_argument, "step={}: ends before it begins", clause.value);
  RL_TRY_ASSIGN(step.when, parse_conditions(clause.condition, fmt::format("step={}", clause.value)));
  return step;
}

Result<Burst> parse_burst(std::string_view text) {
  const auto clause = split_clause(text);
  Burst burst;
  RL_TRY_ASSIGN(burst.size, multiple(clause.value, "bursts"));
  RL_TRY_ASSIGN(burst.when, parse_conditions(clause.condition, fmt::format("bursts={}", clause.value)));
  return burst;
}

/// "1 if key=value".
Result<Burst> parse_absent_cores(std::string_view text) {
  const auto clause = split_clause(text);
  Burst burst;
  RL_TRY_ASSIGN(burst.absent_cores, integer_within(clause.value, "absent_cores", 1, kMostCores - 1));
  RL_TRY_ASSIGN(burst.when, parse_conditions(clause.condition, fmt::format("absent_cores={}", clause.value)));
  return burst;
}

/// `duty` and `mean` belong to the bursts before them, as does a condition that stands after them.
Result<Burst*> burst_before(SyntheticOptions& options, const Clause& clause, std::string_view name) {
  if (options.bursts.empty())
    return base::fail(ErrorCode::invalid_argument, "{}={} has no bursts or absent_cores before it", name, clause.value)
        .hint("write bursts=2x,{}={}", name, clause.value);
  auto& burst = options.bursts.back();
  RL_TRY_ASSIGN(auto when, parse_conditions(clause.condition, fmt::format("{}={}", name, clause.value)));
  burst.when.insert(burst.when.end(), when.begin(), when.end());
  return &burst;
}

using Setter = std::function<Result<void>(SyntheticOptions&, std::string_view)>;

/// Assigns the parsed value to a member, or hands on the error.
#define RL_SETTER(member, expression)                                    \
  [](SyntheticOptions& options, std::string_view text) -> Result<void> { \
    RL_TRY_ASSIGN(options.member, expression);                           \
    return {};                                                           \
  }
#define RL_APPENDER(member, expression)                                  \
  [](SyntheticOptions& options, std::string_view text) -> Result<void> { \
    RL_TRY_ASSIGN(auto item, expression);                                \
    options.member.push_back(std::move(item));                           \
    return {};                                                           \
  }

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table{
      {"surface", RL_SETTER(surface, parse_enum<SurfaceKind>(text, "surface"))},
      {"base", RL_SETTER(base, duration_up_to_an_hour(text, "base"))},
      {"cores", RL_SETTER(cores, integer_within(text, "cores", 1, kMostCores))},
      {"noise", RL_SETTER(noise, ratio_within(text, "noise", 0, 1))},
      {"drift", RL_SETTER(drift, ratio_within(text, "drift", 0, 0.9))},
      {"drift_period", RL_SETTER(drift_period, duration_up_to_an_hour(text, "drift_period"))},
      {"step", RL_APPENDER(steps, parse_step(text))},
      {"bursts", RL_APPENDER(bursts, parse_burst(text))},
      {"absent_cores", RL_APPENDER(bursts, parse_absent_cores(text))},
      {"duty",
       [](SyntheticOptions& options, std::string_view text) -> Result<void> {
         const auto clause = split_clause(text);
         RL_TRY_ASSIGN(auto* burst, burst_before(options, clause, "duty"));
         RL_TRY_ASSIGN(burst->duty, ratio_within(clause.value, "duty", kLeastDuty, kMostDuty));
         return {};
       }},
      {"mean",
       [](SyntheticOptions& options, std::string_view text) -> Result<void> {
         const auto clause = split_clause(text);
         RL_TRY_ASSIGN(auto* burst, burst_before(options, clause, "mean"));
         RL_TRY_ASSIGN(burst->mean, duration_up_to_an_hour(clause.value, "mean"));
         if (burst->mean < kShortestBurst)
           return base::fail(ErrorCode::invalid_argument, "mean={} is shorter than 100us", clause.value);
         return {};
       }},
      {"spikes", RL_SETTER(spikes, ratio_within(text, "spikes", 0, 1))},
      {"spike_size", RL_SETTER(spike_size, number_within(text, "spike_size", 1, 1e6))},
      {"warmup", RL_SETTER(warmup, integer_within(text, "warmup", 0, 1'000'000))},
      {"session_time", RL_SETTER(session_time, duration_up_to_an_hour(text, "session_time"))},
      {"memory", RL_SETTER(memory_mib, integer_within(text, "memory", 0, 1'048'576))},
      {"clock", RL_SETTER(clock, parse_enum<ClockMode>(text, "clock"))},
      {"seed", RL_SETTER(seed, integer_within(text, "seed", 0, INT64_MAX))},
      {"slowdown", RL_APPENDER(slowdowns, parse_conditional_ratio<Slowdown>(text, "slowdown", kLargestSpeedup))},
      {"accuracy", RL_APPENDER(accuracy, parse_conditional_ratio<OutputErrorRule>(text, "accuracy", 0))},
      {"ignores",
       [](SyntheticOptions& options, std::string_view text) -> Result<void> {
         RL_TRY_ASSIGN(const auto* param, schema::require_param(text));
         options.ignores.push_back(param->key);
         return {};
       }},
      {"load", RL_SETTER(load_file, Result<std::string>(std::string(text)))},
      {"fault", RL_APPENDER(faults, parse_fault(text))},
  };
  return table;
}
#undef RL_SETTER
#undef RL_APPENDER

Result<void> apply_item(SyntheticOptions& options, std::string_view item) {
  const auto equals = item.find('=');
  const auto name = std::string(base::trim(item.substr(0, equals)));
  const auto found = setters().find(name);
  if (found == setters().end()) {
    std::vector<std::string> names;
    std::string listed;
    for (const auto& [known, setter] : setters()) {
      names.push_back(known);
      listed += (listed.empty() ? "" : ", ") + known;
    }
    return base::fail(ErrorCode::invalid_argument, "unknown item \"{}\"; known: {}", name, listed)
        .hint("{}", base::did_you_mean(name, names));
  }
  if (equals == std::string_view::npos)
    return base::fail(ErrorCode::invalid_argument, "item \"{}\" has no value, expected {}=...", name, name);
  return found->second(options, base::trim(item.substr(equals + 1)));
}

}  // namespace

bool holds(const SettingConditions& conditions, const schema::Configuration& configuration) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const SettingCondition& condition) {
    const auto* value = configuration.find(condition.key);
    const auto* param = schema::find_param(condition.key);
    if (value == nullptr && param != nullptr && param->default_value) value = &*param->default_value;
    return (value != nullptr && *value == condition.value) != condition.negated;
  });
}

const Fault* SyntheticOptions::find_fault(TrialPhase phase, const schema::Configuration& configuration) const {
  for (const auto& fault : faults)
    if (fault.phase == phase && holds(fault.when, configuration)) return &fault;
  return nullptr;
}

std::string_view synthetic_text(std::string_view location) noexcept {
  if (location.substr(0, kLocationPrefix.size()) == kLocationPrefix) location.remove_prefix(kLocationPrefix.size());
  return location;
}

Result<SyntheticOptions> parse_synthetic_options(std::string_view location) {
  SyntheticOptions options;
  const auto text = synthetic_text(location);
  for (const auto& item : base::split(text, ',')) {
    const auto trimmed = base::trim(item);
    if (trimmed.empty()) {
      if (base::trim(text).empty()) continue;
      return base::fail(ErrorCode::invalid_argument, "synthetic workload \"{}\": an item is empty", text)
          .hint("look for a stray comma");
    }
    if (auto applied = apply_item(options, trimmed); !applied)
      return tl::unexpected<base::Error>(std::move(applied).error().in("synthetic workload"));
  }
  for (const auto& burst : options.bursts)
    if (burst.absent_cores >= options.cores)
      return base::fail(ErrorCode::invalid_argument, "synthetic workload: absent_cores={} leaves none of cores={}",
                        burst.absent_cores, options.cores);
  return options;
}

}  // namespace ridgeline::workload
