// SPDX-License-Identifier: Apache-2.0
#include "analysis/degradation_cause.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "analysis/messages.hpp"
#include "schema/catalog.hpp"
#include "schema/messages.hpp"

namespace ridgeline::analysis {
namespace {

constexpr double kThrottledShare = 0.02;    // of the timed window
constexpr double kClockDrop = 0.97;         // of the baseline's clock
constexpr double kLittleFree = 0.05;        // of the memory
constexpr double kLessFree = 0.01;          // of the memory than before: a service that fills it is no news
constexpr double kGrownLoad = 0.5;          // runnable threads a CPU more than before
constexpr double kMixChange = 0.2;          // of the inferences have another shape
constexpr double kBusier = 15;              // percent of the time, by others
constexpr double kBusierCpu = 25;           // percent of the time of all CPUs
constexpr double kUnlistedBytes = 1 << 30;  // memory of others that the driver lists no process for; a context has half

using Causes = std::vector<DegradationCause>;

/// Share of the timed window in which counter `cause` grew; nullopt when it is not counted.
std::optional<double> throttled_share(const schema::GpuTelemetry& gpu, const std::string& cause) {
  const auto at = gpu.throttle_ns.find(cause);
  const double window_ns = (gpu.timed_to_s - gpu.timed_from_s) * 1e9;
  if (at == gpu.throttle_ns.end() || window_ns <= 0) return std::nullopt;
  return at->second / window_ns;
}

bool has_reason(const schema::GpuTelemetry& gpu, std::string_view part) {
  return std::any_of(gpu.clock_reasons.begin(), gpu.clock_reasons.end(),
                     [&](const auto& reason) { return reason.find(part) != std::string::npos; });
}

void add_throttling(Causes& causes, const schema::GpuTelemetry& before, const schema::GpuTelemetry& now, CauseKind kind,
                    const std::string& counter, const std::string& reason, schema::Message advice) {
  const auto share = throttled_share(now, counter);
  const auto usual = throttled_share(before, counter).value_or(0);
  const bool counted = share && *share >= kThrottledShare && *share > 2 * usual;
  const bool named = !share && has_reason(now, reason) && !has_reason(before, reason);
  if (!counted && !named) return;
  const auto clock = now.sm_clock_mhz;
  const auto clock_before = before.sm_clock_mhz;
  causes.push_back(
      {kind,
       counted
           ? messages::throttled(
                 {.share = *share, .counter = counter, .before = usual, .clock = clock, .clock_before = clock_before})
           : messages::throttle_named({.reason = reason, .clock = clock, .clock_before = clock_before}),
       std::move(advice)});
}

void look_at_clocks(Causes& causes, const schema::GpuTelemetry& before, const schema::GpuTelemetry& now) {
  add_throttling(causes, before, now, CauseKind::thermal_throttling, "thermal", "thermal", messages::fix_heat());
  add_throttling(causes, before, now, CauseKind::power_throttling, "power", "power", messages::fix_power());
  const bool named = std::any_of(causes.begin(), causes.end(), [](const auto& cause) {
    return cause.kind == CauseKind::thermal_throttling || cause.kind == CauseKind::power_throttling;
  });
  if (named || !before.sm_clock_mhz || !now.sm_clock_mhz) return;
  if (*now.sm_clock_mhz > kClockDrop * *before.sm_clock_mhz) return;
  causes.push_back({CauseKind::clock_cap,
                    messages::clock_lower({.clock = *now.sm_clock_mhz, .before = *before.sm_clock_mhz}),
                    messages::fix_clock()});
}

std::set<std::int64_t> processes(const std::optional<schema::GpuTelemetry>& gpu) {
  std::set<std::int64_t> numbers;
  if (!gpu) return numbers;
  for (const auto* list : {&gpu->neighbours_before, &gpu->neighbours_after})
    for (const auto& one : *list) numbers.insert(one.pid);
  return numbers;
}

/// "process 4711 (python train.py)"
schema::Message process_message(std::int64_t pid, const ServiceState& now) {
  const auto name = now.process_names.find(pid);
  return messages::process({.pid = pid, .name = name == now.process_names.end() ? "" : name->second});
}

/// Who is on the GPU now and was not before; with `busy` only when the GPU was busier before the measurement began.
void look_at_neighbours(Causes& causes, const ServiceState& before, const ServiceState& now, bool busy) {
  const auto busy_before = before.gpu_busy_percent.value_or(0);
  const bool busier = now.gpu_busy_percent && *now.gpu_busy_percent > busy_before + kBusier;
  if (busier != busy) return;
  std::vector<schema::Message> fresh;
  const auto known = processes(before.gpu);
  for (const auto pid : processes(now.gpu))
    if (known.count(pid) == 0) fresh.push_back(process_message(pid, now));
  std::vector<schema::Message> evidence;
  if (!fresh.empty()) evidence.push_back(messages::new_processes({.several = fresh.size() > 1, .processes = fresh}));
  if (busier)
    evidence.push_back(messages::gpu_busier({.busy = *now.gpu_busy_percent / 100, .before = busy_before / 100}));
  if (fresh.empty() && before.gpu && now.gpu && before.gpu->device_used_before_bytes &&
      now.gpu->device_used_before_bytes) {
    const auto grown = static_cast<double>(*now.gpu->device_used_before_bytes - *before.gpu->device_used_before_bytes);
    if (grown > kUnlistedBytes) evidence.push_back(messages::gpu_memory_unlisted(grown));
  }
  if (evidence.empty()) return;
  causes.push_back({CauseKind::other_process, schema::messages::several(evidence), messages::fix_other_process()});
}

/// Hardly any of `total` bytes is free `now`, where more was before, or where that is not known: then it is a weak
/// cause.
bool is_pressed(double total, std::optional<double> before, double now) {
  return now < kLittleFree * total && !(before && *before - now <= kLessFree * total);
}

/// With `known` only where it is known how much was free before, else only where it is not.
void look_at_memory(Causes& causes, const ServiceState& before, const ServiceState& now, bool known) {
  std::optional<double> free_before;
  if (before.gpu && before.gpu->memory_free_before_bytes)
    free_before = static_cast<double>(*before.gpu->memory_free_before_bytes);
  if (now.gpu && now.gpu->memory_free_before_bytes && free_before.has_value() == known)
    for (const auto& card : now.environment.gpus) {
      const auto free = static_cast<double>(*now.gpu->memory_free_before_bytes);
      const auto total = static_cast<double>(card.memory_bytes);
      if (card.uuid == now.gpu->uuid && card.memory_bytes > 0 && is_pressed(total, free_before, free))
        causes.push_back({CauseKind::memory_pressure,
                          messages::gpu_memory_full({.free = free, .total = total, .before = free_before}),
                          messages::fix_gpu_memory()});
    }
  std::optional<double> available_before;
  if (before.environment.memory_available_bytes > 0)
    available_before = static_cast<double>(before.environment.memory_available_bytes);
  const auto available = static_cast<double>(now.environment.memory_available_bytes);
  const auto total = static_cast<double>(now.environment.memory_bytes);
  if (total > 0 && available > 0 && available_before.has_value() == known &&
      is_pressed(total, available_before, available))
    causes.push_back({CauseKind::memory_pressure,
                      messages::host_memory_full({.free = available, .total = total, .before = available_before}),
                      messages::fix_host_memory()});
}

bool is_change(const std::string& before, const std::string& now) {
  return !before.empty() && !now.empty() && before != now;
}

void look_at_libraries(Causes& causes, const ServiceState& before, const ServiceState& now) {
  std::vector<schema::Message> changes;
  const auto add_version = [&](const std::string& name, const std::string& then, const std::string& version) {
    if (is_change(then, version))
      changes.push_back(messages::version_changed({.name = name, .before = then, .now = version}));
  };
  add_version(before.runtime.name, before.runtime.version, now.runtime.version);
  if (before.runtime.version == now.runtime.version &&
      is_change(before.runtime.library_sha256, now.runtime.library_sha256))
    changes.push_back(messages::build_changed({.name = now.runtime.name, .version = now.runtime.version}));
  for (const auto& [provider, libraries] : before.runtime.provider_libraries) {
    const auto at = now.runtime.provider_libraries.find(provider);
    if (at == now.runtime.provider_libraries.end()) continue;
    for (const auto& [file, version] : libraries)
      if (const auto same = at->second.find(file); same != at->second.end()) add_version(file, version, same->second);
  }
  for (const auto& card : before.environment.gpus)
    for (const auto& same : now.environment.gpus)
      if (card.uuid == same.uuid && is_change(card.driver_version, same.driver_version))
        changes.push_back(messages::driver_changed({.before = card.driver_version, .now = same.driver_version}));
  if (is_change(before.environment.kernel, now.environment.kernel))
    changes.push_back(messages::kernel_changed({.before = before.environment.kernel, .now = now.environment.kernel}));
  if (changes.empty()) return;
  causes.push_back({CauseKind::library_changed, schema::messages::several(changes), messages::fix_versions()});
}

schema::Message value_message(const schema::Configuration& configuration, const std::string& key) {
  if (const auto* value = configuration.find(key)) return messages::value(value->to_text());
  const auto value = schema::effective_value(configuration, key);
  return value ? messages::value_by_default(value->to_text()) : messages::default_value();
}

void look_at_settings(Causes& causes, const ServiceState& before, const ServiceState& now) {
  if (!before.configuration || !now.configuration) return;
  std::vector<schema::Message> changes;
  for (const auto& key : schema::differing_keys(*before.configuration, *now.configuration)) {
    if (schema::effective_value(*before.configuration, key) == schema::effective_value(*now.configuration, key))
      continue;
    changes.push_back(messages::setting_changed({.key = key,
                                                 .before = value_message(*before.configuration, key),
                                                 .now = value_message(*now.configuration, key)}));
  }
  if (changes.empty()) return;
  causes.push_back({CauseKind::setting_changed, schema::messages::several(changes), messages::fix_settings()});
}

/// The mix as a set: order and repetition say nothing.
std::set<std::string> shape_texts(const std::vector<schema::ShapeSet>& shapes) {
  std::set<std::string> texts;
  for (const auto& set : shapes) texts.insert(shape_text(set));
  return texts;
}

/// Half the sum of differences of shares: 0 for the same mix, 1 for nothing in common.
double mix_distance(const std::map<std::string, double>& a, const std::map<std::string, double>& b) {
  double sum = 0;
  for (const auto& [text, share] : a) sum += std::abs(share - (b.count(text) != 0 ? b.at(text) : 0));
  for (const auto& [text, share] : b) sum += a.count(text) != 0 ? 0 : share;
  return sum / 2;
}

/// Shares to whole percents: a mix that differs by less is no other mix.
std::vector<schema::Message> mix_of(const std::map<std::string, double>& shares) {
  constexpr std::size_t kMostTold = 4;
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [text, share] : shares) sorted.emplace_back(-share, text);
  std::sort(sorted.begin(), sorted.end());
  std::vector<schema::Message> parts;
  for (const auto& [share, text] : sorted)
    if (parts.size() < kMostTold)
      parts.push_back(messages::shape_share({.shapes = text, .share = std::nearbyint(-share * 100) / 100}));
  if (sorted.size() > kMostTold) parts.push_back(messages::more_shapes(std::ssize(sorted) - std::ssize(parts)));
  return parts;
}

schema::Message changed_shapes(const ServiceState& before, const ServiceState& now) {
  if (!before.shape_shares.empty() && !now.shape_shares.empty()) {
    if (mix_distance(before.shape_shares, now.shape_shares) <= kMixChange) return {};
    return messages::mix_changed({.before = mix_of(before.shape_shares), .now = mix_of(now.shape_shares)});
  }
  const auto shapes = shape_texts(before.shapes);
  const auto shapes_now = shape_texts(now.shapes);
  if (shapes.empty() || shapes_now.empty() || shapes == shapes_now) return {};
  return messages::shapes_changed(
      {.before = {shapes.begin(), shapes.end()}, .now = {shapes_now.begin(), shapes_now.end()}});
}

void look_at_question(Causes& causes, const ServiceState& before, const ServiceState& now) {
  if (is_change(before.model_sha256, now.model_sha256))
    causes.push_back(
        {CauseKind::model_changed,
         messages::model_changed({.before = before.model_sha256.substr(0, 12), .now = now.model_sha256.substr(0, 12)}),
         messages::fix_model()});
  if (auto evidence = changed_shapes(before, now); !evidence.empty())
    causes.push_back({CauseKind::shapes_changed, std::move(evidence), messages::fix_shapes()});
}

void look_at_cpu(Causes& causes, const ServiceState& state_before, const ServiceState& state_now) {
  const auto& before = state_before.environment;
  const auto& now = state_now.environment;
  std::vector<schema::Message> changes;
  if (!state_now.disturbance.empty() && state_before.disturbance.empty()) changes.push_back(state_now.disturbance);
  if (before.load_average && now.load_average && now.usable_cpus > 0 &&
      *now.load_average - *before.load_average > kGrownLoad * now.usable_cpus)
    changes.push_back(
        messages::load_grew({.now = *now.load_average, .cpus = now.usable_cpus, .before = *before.load_average}));
  if (state_before.cpu_busy_percent && state_now.cpu_busy_percent &&
      *state_now.cpu_busy_percent > *state_before.cpu_busy_percent + kBusierCpu)
    changes.push_back(messages::cpu_busier(
        {.now = *state_now.cpu_busy_percent / 100, .before = *state_before.cpu_busy_percent / 100}));
  if (before.usable_cpus > 0 && now.usable_cpus > 0 && now.usable_cpus < before.usable_cpus)
    changes.push_back(messages::fewer_cpus({.now = now.usable_cpus, .before = before.usable_cpus}));
  if (before.governor && now.governor && *before.governor != *now.governor)
    changes.push_back(messages::governor_changed({.before = *before.governor, .now = *now.governor}));
  if (changes.empty()) return;
  causes.push_back({CauseKind::busy_cpu, schema::messages::several(changes), messages::fix_busy_cpu()});
}

schema::Message looked_at(const ServiceState& before, const ServiceState& now) {
  messages::NothingChanged seen;
  if (before.gpu && now.gpu) {
    seen.gpu = true;
    seen.clock = now.gpu->sm_clock_mhz;
    seen.clock_before = before.gpu->sm_clock_mhz;
  }
  return messages::nothing_changed(seen);
}

}  // namespace

std::string shape_text(const schema::ShapeSet& shapes) {
  std::vector<std::string> inputs;
  for (const auto& input : shapes) inputs.push_back(fmt::format("{}:{}", input.name, fmt::join(input.dims, "x")));
  std::sort(inputs.begin(), inputs.end());
  return fmt::format("{}", fmt::join(inputs, "+"));
}

std::vector<DegradationCause> find_changes(const ServiceState& before, const ServiceState& now) {
  Causes causes;
  look_at_settings(causes, before, now);
  look_at_question(causes, before, now);
  look_at_libraries(causes, before, now);
  return causes;
}

std::vector<DegradationCause> find_causes(const ServiceState& before, const ServiceState& now) {
  Causes causes;
  look_at_neighbours(causes, before, now, true);
  for (auto& change : find_changes(before, now)) causes.push_back(std::move(change));
  if (before.gpu && now.gpu) look_at_clocks(causes, *before.gpu, *now.gpu);
  look_at_neighbours(causes, before, now, false);
  look_at_memory(causes, before, now, true);
  look_at_cpu(causes, before, now);
  look_at_memory(causes, before, now, false);
  if (causes.empty()) causes.push_back({CauseKind::unknown, looked_at(before, now), messages::fix_unknown()});
  return causes;
}

RL_DEFINE_JSON(ServiceState, environment, runtime, model_sha256, shapes, gpu, configuration, gpu_busy_percent,
               disturbance, shape_shares, process_names, cpu_busy_percent)
RL_DEFINE_JSON(DegradationCause, kind, evidence, advice)

}  // namespace ridgeline::analysis
