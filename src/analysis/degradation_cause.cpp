// SPDX-License-Identifier: Apache-2.0
#include "analysis/degradation_cause.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "schema/catalog.hpp"

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

std::string clock_text(const std::optional<double>& mhz) { return mhz ? fmt::format("{:.0f} MHz", *mhz) : "not known"; }

bool has_reason(const schema::GpuTelemetry& gpu, std::string_view part) {
  return std::any_of(gpu.clock_reasons.begin(), gpu.clock_reasons.end(),
                     [&](const auto& reason) { return reason.find(part) != std::string::npos; });
}

void add_throttling(Causes& causes, const schema::GpuTelemetry& before, const schema::GpuTelemetry& now, CauseKind kind,
                    const std::string& counter, std::string_view reason, const char* advice) {
  const auto share = throttled_share(now, counter);
  const auto usual = throttled_share(before, counter).value_or(0);
  const bool counted = share && *share >= kThrottledShare && *share > 2 * usual;
  const bool named = !share && has_reason(now, reason) && !has_reason(before, reason);
  if (!counted && !named) return;
  auto evidence =
      counted ? fmt::format("clocks were throttled for {:.0f} % of the probe ({} counter), {:.0f} % before",
                            *share * 100, counter, usual * 100)
              : fmt::format("the driver names {} as the reason for lower clocks, which it did not before", reason);
  evidence += fmt::format("; SM clock {}, {} before", clock_text(now.sm_clock_mhz), clock_text(before.sm_clock_mhz));
  causes.push_back({kind, std::move(evidence), advice});
}

void look_at_clocks(Causes& causes, const schema::GpuTelemetry& before, const schema::GpuTelemetry& now) {
  add_throttling(
      causes, before, now, CauseKind::thermal_throttling, "thermal", "thermal",
      "check fans, air flow and the temperature of the room; ridgeline monitor shows the time in each reason");
  add_throttling(
      causes, before, now, CauseKind::power_throttling, "power", "power",
      "compare the power limit with its default (nvidia-smi -q -d POWER); another load may share the supply");
  const bool named = std::any_of(causes.begin(), causes.end(), [](const auto& cause) {
    return cause.kind == CauseKind::thermal_throttling || cause.kind == CauseKind::power_throttling;
  });
  if (named || !before.sm_clock_mhz || !now.sm_clock_mhz) return;
  if (*now.sm_clock_mhz > kClockDrop * *before.sm_clock_mhz) return;
  causes.push_back({CauseKind::clock_cap,
                    fmt::format("SM clock {}, {} before, and no throttle counter grew", clock_text(now.sm_clock_mhz),
                                clock_text(before.sm_clock_mhz)),
                    "look for locked or application clocks: nvidia-smi -q -d CLOCK"});
}

std::set<std::int64_t> processes(const std::optional<schema::GpuTelemetry>& gpu) {
  std::set<std::int64_t> numbers;
  if (!gpu) return numbers;
  for (const auto* list : {&gpu->neighbours_before, &gpu->neighbours_after})
    for (const auto& one : *list) numbers.insert(one.pid);
  return numbers;
}

/// "process 4711 (python train.py)"
std::string process_text(std::int64_t pid, const ServiceState& now) {
  const auto name = now.process_names.find(pid);
  return fmt::format("process {}{}", pid, name == now.process_names.end() ? "" : fmt::format(" ({})", name->second));
}

/// Who is on the GPU now and was not before; with `busy` only when the GPU was busier before the measurement began.
void look_at_neighbours(Causes& causes, const ServiceState& before, const ServiceState& now, bool busy) {
  const bool busier = now.gpu_busy_percent && *now.gpu_busy_percent > before.gpu_busy_percent.value_or(0) + kBusier;
  if (busier != busy) return;
  std::vector<std::string> fresh;
  const auto known = processes(before.gpu);
  for (const auto pid : processes(now.gpu))
    if (known.count(pid) == 0) fresh.push_back(process_text(pid, now));
  std::vector<std::string> evidence;
  if (!fresh.empty())
    evidence.push_back(fmt::format("{} on the same GPU that {} not there before: {}",
                                   fresh.size() == 1 ? "another process" : "other processes",
                                   fresh.size() == 1 ? "was" : "were", fmt::join(fresh, ", ")));
  if (busier)
    evidence.push_back(fmt::format("others kept the GPU busy for {:.0f} % of the time just before, {:.0f} % earlier",
                                   *now.gpu_busy_percent, before.gpu_busy_percent.value_or(0)));
  if (fresh.empty() && before.gpu && now.gpu && before.gpu->device_used_before_bytes &&
      now.gpu->device_used_before_bytes) {
    const auto grown = static_cast<double>(*now.gpu->device_used_before_bytes - *before.gpu->device_used_before_bytes);
    if (grown > kUnlistedBytes)
      evidence.push_back(
          fmt::format("{} more of the GPU's memory are in use by processes that the driver does not list",
                      base::format_bytes(grown)));
  }
  if (evidence.empty()) return;
  causes.push_back({CauseKind::other_process, fmt::format("{}", fmt::join(evidence, "; ")),
                    "give each its own GPU, or accept the new figure as the baseline (--baseline learn)"});
}

/// Hardly any of `total` bytes is free `now`: a cause when more was before, a weak one when that is not known.
void add_pressure(Causes& causes, std::string_view what, double total, std::optional<double> before, double now,
                  const char* advice) {
  if (now >= kLittleFree * total || (before && *before - now <= kLessFree * total)) return;
  causes.push_back(
      {CauseKind::memory_pressure,
       fmt::format("{} of {} {}, {}", base::format_bytes(now), base::format_bytes(total), what,
                   before ? base::format_bytes(*before) + " before" : "and it is not known whether it was so before"),
       advice});
}

/// With `known` only where it is known how much was free before, else only where it is not.
void look_at_memory(Causes& causes, const ServiceState& before, const ServiceState& now, bool known) {
  std::optional<double> free_before;
  if (before.gpu && before.gpu->memory_free_before_bytes)
    free_before = static_cast<double>(*before.gpu->memory_free_before_bytes);
  if (now.gpu && now.gpu->memory_free_before_bytes && free_before.has_value() == known)
    for (const auto& card : now.environment.gpus)
      if (card.uuid == now.gpu->uuid && card.memory_bytes > 0)
        add_pressure(causes, "of the GPU's memory were free before the probe", static_cast<double>(card.memory_bytes),
                     free_before, static_cast<double>(*now.gpu->memory_free_before_bytes),
                     "find who holds it: ridgeline monitor");
  std::optional<double> available_before;
  if (before.environment.memory_available_bytes > 0)
    available_before = static_cast<double>(before.environment.memory_available_bytes);
  const auto& machine = now.environment;
  if (machine.memory_bytes > 0 && machine.memory_available_bytes > 0 && available_before.has_value() == known)
    add_pressure(causes, "of host memory are available", static_cast<double>(machine.memory_bytes), available_before,
                 static_cast<double>(machine.memory_available_bytes), "a machine that swaps is slow in everything");
}

void add_change(std::vector<std::string>& changes, std::string_view what, const std::string& before,
                const std::string& now) {
  if (!before.empty() && !now.empty() && before != now)
    changes.push_back(fmt::format("{} {} -> {}", what, before, now));
}

void look_at_libraries(Causes& causes, const ServiceState& before, const ServiceState& now) {
  std::vector<std::string> changes;
  add_change(changes, before.runtime.name, before.runtime.version, now.runtime.version);
  if (before.runtime.version == now.runtime.version && !before.runtime.library_sha256.empty() &&
      !now.runtime.library_sha256.empty() && before.runtime.library_sha256 != now.runtime.library_sha256)
    changes.push_back(fmt::format("another build of {} {}", now.runtime.name, now.runtime.version));
  for (const auto& [provider, libraries] : before.runtime.provider_libraries) {
    const auto at = now.runtime.provider_libraries.find(provider);
    if (at == now.runtime.provider_libraries.end()) continue;
    for (const auto& [file, version] : libraries)
      if (const auto same = at->second.find(file); same != at->second.end())
        add_change(changes, file, version, same->second);
  }
  for (const auto& card : before.environment.gpus)
    for (const auto& same : now.environment.gpus)
      if (card.uuid == same.uuid) add_change(changes, "driver", card.driver_version, same.driver_version);
  add_change(changes, "kernel", before.environment.kernel, now.environment.kernel);
  if (changes.empty()) return;
  causes.push_back({CauseKind::library_changed, fmt::format("{}", fmt::join(changes, "; ")),
                    "tune again for the new versions (--on-degrade retune), or go back"});
}

std::string value_text(const schema::Configuration& configuration, const std::string& key) {
  if (const auto* value = configuration.find(key)) return value->to_text();
  const auto value = schema::effective_value(configuration, key);
  return value ? value->to_text() + " (default)" : "default";
}

void look_at_settings(Causes& causes, const ServiceState& before, const ServiceState& now) {
  if (!before.configuration || !now.configuration) return;
  std::vector<std::string> changes;
  for (const auto& key : schema::differing_keys(*before.configuration, *now.configuration)) {
    if (schema::effective_value(*before.configuration, key) == schema::effective_value(*now.configuration, key))
      continue;
    changes.push_back(
        fmt::format("{} {} -> {}", key, value_text(*before.configuration, key), value_text(*now.configuration, key)));
  }
  if (changes.empty()) return;
  causes.push_back({CauseKind::setting_changed, fmt::format("{}", fmt::join(changes, "; ")),
                    "put the old value back, or tune again for what changed"});
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

std::string mix_text(const std::map<std::string, double>& shares) {
  constexpr std::size_t kMostTold = 4;
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [text, share] : shares) sorted.emplace_back(-share, text);
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> parts;
  for (const auto& [share, text] : sorted)
    if (parts.size() < kMostTold) parts.push_back(fmt::format("{} {:.0f} %", text, -share * 100));
  if (sorted.size() > kMostTold) parts.push_back(fmt::format("{} more", sorted.size() - kMostTold));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void look_at_shapes(Causes& causes, const ServiceState& before, const ServiceState& now) {
  std::string evidence;
  if (!before.shape_shares.empty() && !now.shape_shares.empty()) {
    if (mix_distance(before.shape_shares, now.shape_shares) > kMixChange)
      evidence = fmt::format("mix of input shapes {} -> {}", mix_text(before.shape_shares), mix_text(now.shape_shares));
  } else {
    const auto shapes = shape_texts(before.shapes);
    const auto shapes_now = shape_texts(now.shapes);
    if (!shapes.empty() && !shapes_now.empty() && shapes != shapes_now)
      evidence = fmt::format("input shapes {} -> {}", fmt::join(shapes, ", "), fmt::join(shapes_now, ", "));
  }
  if (evidence.empty()) return;
  causes.push_back(
      {CauseKind::shapes_changed, std::move(evidence), "compare like with like: measure a baseline for these shapes"});
}

void look_at_question(Causes& causes, const ServiceState& before, const ServiceState& now) {
  if (!before.model_sha256.empty() && !now.model_sha256.empty() && before.model_sha256 != now.model_sha256)
    causes.push_back({CauseKind::model_changed,
                      fmt::format("the model file has another content: SHA-256 {} -> {}",
                                  before.model_sha256.substr(0, 12), now.model_sha256.substr(0, 12)),
                      "tune the new model"});
  look_at_shapes(causes, before, now);
}

void look_at_cpu(Causes& causes, const ServiceState& state_before, const ServiceState& state_now) {
  const auto& before = state_before.environment;
  const auto& now = state_now.environment;
  std::vector<std::string> changes;
  if (!state_now.disturbance.empty() && state_before.disturbance.empty()) changes.push_back(state_now.disturbance);
  if (before.load_average && now.load_average && now.usable_cpus > 0 &&
      *now.load_average - *before.load_average > kGrownLoad * now.usable_cpus)
    changes.push_back(fmt::format("load average {:.1f} on {:g} CPUs, {:.1f} before", *now.load_average, now.usable_cpus,
                                  *before.load_average));
  if (state_before.cpu_busy_percent && state_now.cpu_busy_percent &&
      *state_now.cpu_busy_percent > *state_before.cpu_busy_percent + kBusierCpu)
    changes.push_back(fmt::format("the CPUs were busy for {:.0f} % of the time, {:.0f} % before",
                                  *state_now.cpu_busy_percent, *state_before.cpu_busy_percent));
  if (before.usable_cpus > 0 && now.usable_cpus > 0 && now.usable_cpus < before.usable_cpus)
    changes.push_back(fmt::format("{:g} CPUs usable, {:g} before", now.usable_cpus, before.usable_cpus));
  if (before.governor && now.governor && *before.governor != *now.governor)
    changes.push_back(fmt::format("CPU governor {} -> {}", *before.governor, *now.governor));
  if (changes.empty()) return;
  causes.push_back({CauseKind::busy_cpu, fmt::format("{}", fmt::join(changes, "; ")),
                    "keep other work off these CPUs, or give the service its own (taskset, cgroup)"});
}

std::string looked_at(const ServiceState& before, const ServiceState& now) {
  std::string text = "nothing that was looked at has changed: settings, versions, model, shapes, host memory, CPU load";
  if (before.gpu && now.gpu)
    text += fmt::format(", GPU clocks ({}, {} before), throttle counters, other processes",
                        clock_text(now.gpu->sm_clock_mhz), clock_text(before.gpu->sm_clock_mhz));
  return text;
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
  if (causes.empty())
    causes.push_back(
        {CauseKind::unknown, looked_at(before, now), "tune again to see whether the settings still are the best"});
  return causes;
}

RL_DEFINE_JSON(ServiceState, environment, runtime, model_sha256, shapes, gpu, configuration, gpu_busy_percent,
               disturbance, shape_shares, process_names, cpu_busy_percent)
RL_DEFINE_JSON(DegradationCause, kind, evidence, advice)

}  // namespace ridgeline::analysis
