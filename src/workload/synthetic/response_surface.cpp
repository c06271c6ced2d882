// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/response_surface.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ridgeline::workload {
namespace {

/// What distinguishes one network from another.
struct SurfaceTraits {
  double serial_share;                 ///< of the work, not shared by threads
  double thread_cost;                  ///< synchronisation, as a share of the one-thread time, for each further thread
  std::array<double, 5> graph_levels;  ///< disable_all, basic, extended, layout, all
  double branches;                     ///< gain of running operators side by side, before its costs
  double block_gain;                   ///< best of dynamic_block_base
  double denormal_gain;
  double arena_gain;
  double prepacking_gain;
  double batch_overhead;  ///< share of an inference that does not grow with the batch
};

SurfaceTraits traits_of(SurfaceKind kind) noexcept {
  switch (kind) {
    case SurfaceKind::conv: return {.04, .022, {1.65, 1.40, 1.15, 1.02, 1.0}, 0, .03, 0, .09, .12, .10};
    case SurfaceKind::transformer: return {.10, .012, {1.50, 1.32, 1.0, 1.0, 1.0}, .05, .015, .02, .05, .20, .20};
    case SurfaceKind::tiny: return {.60, .080, {1.12, 1.05, 1.0, 1.0, 1.0}, 0, 0, .01, .03, .02, .70};
    case SurfaceKind::flat: break;
  }
  return {};
}

class Settings {
 public:
  Settings(const SyntheticOptions& options, const schema::Configuration& configuration)
      : options_(options), configuration_(configuration) {}
  [[nodiscard]] const schema::Value* find(const char* key) const {
    const bool ignored = std::find(options_.ignores.begin(), options_.ignores.end(), key) != options_.ignores.end();
    return ignored ? nullptr : configuration_.find(key);
  }
  [[nodiscard]] double number(const char* key, double fallback) const {
    const auto* value = find(key);
    return value == nullptr ? fallback : value->as_number(fallback);
  }
  [[nodiscard]] bool flag(const char* key, bool fallback) const {
    const auto* value = find(key);
    return value == nullptr ? fallback : value->as_bool(fallback);
  }
  [[nodiscard]] std::string_view text(const char* key, std::string_view fallback) const {
    const auto* value = find(key);
    return value == nullptr ? fallback : value->as_text(fallback);
  }

 private:
  const SyntheticOptions& options_;
  const schema::Configuration& configuration_;
};

double graph_level(const SurfaceTraits& traits, std::string_view level) noexcept {
  constexpr std::array<std::string_view, 5> kLevels{"disable_all", "basic", "extended", "layout", "all"};
  for (std::size_t i = 0; i < kLevels.size(); ++i)
    if (level == kLevels[i]) return traits.graph_levels[i];
  return traits.graph_levels.back();
}

double thread_factor(const SurfaceTraits& traits, const Settings& settings, double cores) {
  const double asked = settings.number("intra_op_num_threads", 0);
  const double threads = asked > 0 ? asked : cores;
  const double sessions = settings.number("parallel_sessions", 1) * settings.number("concurrent_runs", 1);
  const bool parallel = settings.text("execution_mode", "sequential") == "parallel";
  const double inter = parallel ? std::max(1.0, settings.number("inter_op_num_threads", 0)) : 1;
  const bool spins = settings.flag("intra_op_allow_spinning", true) &&
                     settings.number("intra_op_spin_duration_us", 1000) > 0 &&
                     !(sessions > 1 && settings.flag("force_spinning_stop", false));

  double time =
      traits.serial_share + (1 - traits.serial_share) / std::min(threads, cores) + traits.thread_cost * (threads - 1);
  if (threads > cores) time *= 1 + 0.6 * (threads / cores - 1);
  const double demand = sessions * threads * (parallel ? 1 + 0.3 * (inter - 1) : 1);
  if (demand > cores && (sessions > 1 || parallel)) time *= std::pow(demand / cores, spins ? 1.15 : 1.0);
  if (threads > 1 && !spins && demand <= cores) time *= 1 + 0.02 * std::log2(threads);
  if (threads > 1 && settings.number("dynamic_block_base", 0) > 0) {
    const double distance = std::abs(std::log2(settings.number("dynamic_block_base", 0)) - 2);  // best at 4
    time *= 1 - traits.block_gain * std::max(0.0, 1 - distance);
  }
  if (parallel) time *= 1.02 - traits.branches * std::min(1.0, (inter - 1) / 2);
  return time;
}

double absolute_duration(const SyntheticOptions& options, const schema::Configuration& configuration) {
  const auto traits = traits_of(options.surface);
  const Settings settings(options, configuration);
  double time = thread_factor(traits, settings, options.cores);
  time *= graph_level(traits, settings.text("graph_optimization_level", "all"));
  if (!settings.flag("enable_cpu_mem_arena", true)) time *= 1 + traits.arena_gain;
  if (!settings.flag("enable_mem_pattern", true)) time *= 1 + traits.arena_gain / 4;
  if (settings.flag("disable_prepacking", false)) time *= 1 + traits.prepacking_gain;
  if (settings.flag("set_denormal_as_zero", false)) time *= 1 - traits.denormal_gain;
  if (settings.flag("use_deterministic_compute", false)) time *= 1.05;
  const double batch = std::max(1.0, settings.number("batch_size", 1));
  return time * (traits.batch_overhead + (1 - traits.batch_overhead) * batch);
}

}  // namespace

double relative_duration(const SyntheticOptions& options, const schema::Configuration& configuration) {
  double ratio = 1;
  if (options.surface == SurfaceKind::flat) {
    ratio = std::max(1.0, Settings(options, configuration).number("batch_size", 1));
  } else {
    ratio = absolute_duration(options, configuration) / absolute_duration(options, {});
  }
  for (const auto& slowdown : options.slowdowns)
    if (holds(slowdown.when, configuration)) ratio *= 1 + slowdown.ratio;
  return ratio;
}

}  // namespace ridgeline::workload
