// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "analysis/comparison.hpp"
#include "analysis/messages.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::analysis {
namespace {

using schema::ProfileModule;
using schema::ProfileRun;

constexpr double kTotalConfidence = 0.99;
constexpr double kModuleConfidence = 0.95;
constexpr double kSameWork = 0.05;     // of the kernels, up to which two recordings do the same
constexpr double kSlowerAlike = 0.02;  // of modules, before their slow-down counts as one of all

std::vector<double> numbers(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

std::vector<double> durations(const ProfileRun& run) {
  std::vector<double> out;
  for (const auto& step : run.tables.steps) out.push_back(static_cast<double>(step.duration_ns));
  return out;
}

using ModuleMap = std::map<std::string, const ProfileModule*>;
ModuleMap by_path(const ProfileRun& run) {
  ModuleMap out;
  for (const auto& row : run.tables.modules)
    if (row.kind != schema::ModuleKind::unattributed) out.emplace(row.path, &row);
  return out;
}

/// Of modules in both: those whose steps are shown to differ.
std::vector<ModuleChange> changes(const ModuleMap& a, const ModuleMap& b,
                                  std::vector<std::int64_t> ProfileModule::*steps, bool is_time) {
  std::vector<ModuleChange> all;
  std::vector<double> p_values;
  for (const auto& [path, row] : a) {
    const auto other = b.find(path);
    if (path.empty() || other == b.end()) continue;
    const auto values_a = numbers(row->*steps);
    const auto values_b = numbers(other->second->*steps);
    const auto ratio = stats::welch_ratio(values_a, values_b, kModuleConfidence, kLeastProfileSteps);
    if (!ratio) continue;
    ModuleChange change{path, stats::median(values_a), stats::median(values_b), *ratio, 0};
    change.difference_ns = is_time ? change.b - change.a : 0;
    p_values.push_back(ratio->p_value);
    all.push_back(std::move(change));
  }
  const auto adjusted = stats::holm(p_values);
  std::vector<ModuleChange> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].ratio.p_value = adjusted[i];
    if (adjusted[i] <= 1 - kModuleConfidence) out.push_back(all[i]);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.b - x.a) > std::abs(y.b - y.a); });
  return out;
}

template <typename Row>
std::map<std::string, const Row*> by_name(const std::vector<Row>& rows) {
  std::map<std::string, const Row*> out;
  for (const auto& row : rows) out.emplace(row.name, &row);
  return out;
}

template <typename Row, typename Time>
std::vector<CallsChange> all_calls(const std::vector<Row>& a, const std::vector<Row>& b, Time time) {
  std::map<std::string, CallsChange> out;
  for (const auto& row : a) {
    auto& change = out[row.name];
    change.a += row.calls;
    change.a_ns += time(row);
  }
  for (const auto& row : b) {
    auto& change = out[row.name];
    change.b += row.calls;
    change.b_ns += time(row);
  }
  std::vector<CallsChange> list;
  for (auto& [name, change] : out) {
    change.name = name;
    list.push_back(std::move(change));
  }
  return list;
}

void compare_operators(const ProfileRun& a, const ProfileRun& b, ProfileComparison& out) {
  for (auto& change : all_calls(a.tables.operators, b.tables.operators, [](const auto& row) { return row.host_ns; })) {
    if (change.b == 0)
      out.only_a.push_back(std::move(change));
    else if (change.a == 0)
      out.only_b.push_back(std::move(change));
    else if (change.a != change.b)
      out.changed.push_back(std::move(change));
  }
  std::stable_sort(out.changed.begin(), out.changed.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.b - x.a) > std::abs(y.b - y.a); });
}

void compare_devices(const ProfileRun& a, const ProfileRun& b, ProfileComparison& out) {
  const auto& devices_a = a.tables.devices;
  const auto& devices_b = b.tables.devices;
  const auto text = [](const schema::ProfileDevice& device) {
    return fmt::format("GPU {}{}", device.device, device.name.empty() ? "" : " " + device.name);
  };
  const auto busy = [](const schema::ProfileDevice& device) {
    return device.span_ns > 0 ? static_cast<double>(device.busy_ns) / static_cast<double>(device.span_ns) : 0;
  };
  for (std::size_t i = 0; i < std::min(devices_a.size(), devices_b.size()); ++i)
    out.devices.push_back(
        {text(devices_a[i]), text(devices_b[i]),
         devices_a[i].name.empty() || devices_b[i].name.empty() || devices_a[i].name == devices_b[i].name,
         busy(devices_a[i]), busy(devices_b[i])});
  if (devices_a.size() != devices_b.size())
    out.remarks.push_back(
        messages::profile_gpus_not_compared({.a = std::ssize(devices_a), .b = std::ssize(devices_b)}));
  for (const auto& device : out.devices)
    if (!device.same) out.remarks.push_back(messages::profile_gpus_differ({.a = device.a, .b = device.b}));
}

std::int64_t kernels_of(const ProfileRun& run) {
  return run.tables.modules.empty() ? 0 : run.tables.modules.front().kernels;
}

/// Every module slower by about the same, with the same launches and bytes: that is no change of the code.
void look_for_clock(const ProfileRun& a, const ProfileRun& b, ProfileComparison& out) {
  if (out.times.size() < 3 || !out.bytes.empty()) return;
  const bool same_launches = kernels_of(a) * static_cast<std::int64_t>(b.tables.steps.size()) ==
                             kernels_of(b) * static_cast<std::int64_t>(a.tables.steps.size());
  if (kernels_of(a) == 0 || !same_launches || !out.only_a.empty() || !out.only_b.empty()) return;
  std::vector<double> ratios;
  for (const auto& change : out.times) ratios.push_back(change.ratio.ratio);
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  const double middle = stats::median(ratios);
  if (*least < 1 + kSlowerAlike || *most > 1 + 2 * (middle - 1)) return;
  const bool has_bytes = !a.tables.modules.front().step_bytes.empty() && !b.tables.modules.front().step_bytes.empty();
  out.remarks.push_back(messages::profile_all_slower({.same_bytes = has_bytes, .slower = middle - 1}));
}

/// Of a step each; of all that was recorded where a side has no steps: the one says nothing about the other.
std::pair<double, double> times_to_compare(const ProfileRun& a, const ProfileRun& b) {
  if (!a.tables.steps.empty() && !b.tables.steps.empty()) return {step_median_ns(a), step_median_ns(b)};
  return {static_cast<double>(a.tables.span_ns), static_cast<double>(b.tables.span_ns)};
}

/// Without steps, recordings of another number of kernels are parts of a program of another length.
schema::Message different_work(const ProfileRun& a, const ProfileRun& b) {
  const auto in_a = static_cast<double>(kernels_of(a));
  const auto in_b = static_cast<double>(kernels_of(b));
  if (std::abs(in_a - in_b) <= kSameWork * std::max(in_a, in_b)) return {};
  return messages::profile_lengths_differ({.a = kernels_of(a),
                                           .b = kernels_of(b),
                                           .time_a = static_cast<double>(a.tables.span_ns),
                                           .time_b = static_cast<double>(b.tables.span_ns)});
}

/// By `profile -- COMMAND`.
bool is_recorded(const ProfileRun& run) { return !run.request.command.empty(); }

schema::Message without_verdict(std::size_t a, std::size_t b, bool recorded) {
  if (a > 0 && b > 0)
    return messages::profile_few_steps({.a = static_cast<std::int64_t>(a),
                                        .b = static_cast<std::int64_t>(b),
                                        .least = static_cast<std::int64_t>(kLeastProfileSteps)});
  using Side = messages::ProfileNoStepsSide;
  return messages::profile_no_steps({.side = a == b ? Side::both : a == 0 ? Side::a : Side::b, .recorded = recorded});
}

/// What was counted of all steps, where their numbers differ.
void make_per_step(ProfileComparison& found) {
  found.per_step = true;
  const auto share = [](std::int64_t count, std::size_t steps) {
    return std::llround(static_cast<double>(count) / static_cast<double>(steps));
  };
  for (auto* rows : {&found.kernels, &found.changed})
    for (auto& row : *rows) {
      row.a = share(row.a, found.steps_a);
      row.b = share(row.b, found.steps_b);
      row.a_ns = share(row.a_ns, found.steps_a);
      row.b_ns = share(row.b_ns, found.steps_b);
    }
  std::erase_if(found.changed, [](const auto& row) { return row.a == row.b; });
}

}  // namespace

void to_json(nlohmann::json& json, const ModuleChange& change) {
  json = {{"path", change.path},
          {"a", change.a},
          {"b", change.b},
          {"ratio", change.ratio.ratio},
          {"low", change.ratio.low},
          {"high", change.ratio.high},
          {"p_value", change.ratio.p_value},
          {"difference_ns", change.difference_ns}};
}
void to_json(nlohmann::json& json, const CallsChange& change) {
  json = {{"name", change.name}, {"a", change.a}, {"b", change.b}, {"a_ns", change.a_ns}, {"b_ns", change.b_ns}};
}
void to_json(nlohmann::json& json, const DeviceChange& change) {
  json = {
      {"a", change.a}, {"b", change.b}, {"same", change.same}, {"busy_a", change.busy_a}, {"busy_b", change.busy_b}};
}
void to_json(nlohmann::json& json, const ProfileComparison& found) {
  json = {{"total", found.total},     {"steps_a", found.steps_a}, {"steps_b", found.steps_b},
          {"devices", found.devices}, {"times", found.times},     {"bytes", found.bytes},
          {"only_a", found.only_a},   {"only_b", found.only_b},   {"changed", found.changed},
          {"kernels", found.kernels}, {"remarks", found.remarks}, {"per_step", found.per_step}};
}

std::optional<schema::Comparison> compare_times(std::span<const double> a, std::span<const double> b, double confidence,
                                                double min_effect) {
  const auto ratio = stats::welch_ratio(a, b, confidence, kLeastProfileSteps);
  if (!ratio) return std::nullopt;
  schema::Comparison out;
  out.ratio = 1 / ratio->ratio;  // of speeds
  out.low = 1 / ratio->high;
  out.high = 1 / ratio->low;
  out.p_value = ratio->p_value;
  out.verdict = judge(out.ratio, out.low, out.high, min_effect);
  return out;
}

ProfileComparison compare_profiles(const ProfileRun& a, const ProfileRun& b, double min_effect) {
  ProfileComparison out;
  const auto steps_a = durations(a);
  const auto steps_b = durations(b);
  out.steps_a = steps_a.size();
  out.steps_b = steps_b.size();
  compare_devices(a, b, out);
  if (const auto total = compare_times(steps_a, steps_b, kTotalConfidence, min_effect)) {
    out.total = *total;
  } else {
    const auto [a_ns, b_ns] = times_to_compare(a, b);
    out.total.ratio = b_ns > 0 ? a_ns / b_ns : 1;
    out.total.low = 1 / kUnbounded;
    out.total.high = kUnbounded;
    if (steps_a.empty() || steps_b.empty()) out.not_comparable = different_work(a, b);
    out.remarks.push_back(a_ns > 0 || b_ns > 0
                              ? without_verdict(steps_a.size(), steps_b.size(), is_recorded(steps_a.empty() ? a : b))
                              : messages::profile_no_times());
  }
  const auto modules_a = by_path(a);
  const auto modules_b = by_path(b);
  out.times = changes(modules_a, modules_b, &ProfileModule::step_ns, true);
  out.bytes = changes(modules_a, modules_b, &ProfileModule::step_bytes, false);
  compare_operators(a, b, out);
  out.kernels = all_calls(a.tables.kernels, b.tables.kernels, [](const auto& row) { return row.total_ns; });
  if (steps_a.size() != steps_b.size() && !steps_a.empty() && !steps_b.empty()) make_per_step(out);
  std::erase_if(out.kernels, [](const auto& row) { return row.a == row.b && row.a_ns == row.b_ns; });
  std::stable_sort(out.kernels.begin(), out.kernels.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.b_ns - x.a_ns) > std::abs(y.b_ns - y.a_ns); });
  look_for_clock(a, b, out);
  return out;
}

double step_median_ns(const ProfileRun& run) {
  const auto steps = durations(run);
  if (!steps.empty()) return stats::median(steps);
  std::int64_t span = run.tables.span_ns;
  return static_cast<double>(span);
}

}  // namespace ridgeline::analysis
