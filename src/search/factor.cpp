// SPDX-License-Identifier: Apache-2.0
#include "search/factor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "schema/catalog.hpp"
#include "schema/execution_provider.hpp"
#include "search/relevance.hpp"
#include "stats/shrinkage.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;
using schema::Dimension;

/// Most influential first, from measurements on the CPU provider; a key that is not here comes in the middle, where the
/// catalogue's order decides.
constexpr std::array<std::string_view, 8> kStrongOnCpu{
    "intra_op_num_threads",     "parallel_sessions",   "batch_size",
    "graph_optimization_level", "execution_mode",      "inter_op_num_threads",
    "intra_op_allow_spinning",  "enable_cpu_mem_arena"};
constexpr std::array<std::string_view, 4> kWeakOnCpu{"intra_op_thread_affinities", "intra_op_spin_duration_us",
                                                     "intra_op_spin_backoff_max", "force_spinning_stop"};
/// The same from measurements on an H200. Batch and sessions decide what bounds the rest, so they come early; the
/// search of convolutions decides how long each session with another layout takes to make, so it comes before the
/// layout.
constexpr std::array<std::string_view, 12> kStrongOnGpu{
    "io_binding",  "enable_cuda_graph", "trt_cuda_graph_enable",        "override_free_dimensions",
    "batch_size",  "parallel_sessions", "disable_specified_optimizers", "cudnn_conv_algo_search",
    "prefer_nhwc", "fuse_conv_bias",    "graph_optimization_level",     "sdpa_kernel"};
constexpr std::array<std::string_view, 2> kWeakOnGpu{"intra_op_num_threads", "use_ep_level_unified_stream"};

/// What such lists make expect of a parameter, as |log ratio|. They give an order only; the numbers put it on the scale
/// of what a device shows: from 30 % on, half of it three places on, 2 % for what is not listed, 1 % for what is weak.
template <typename Strong, typename Weak>
double prior_effect(std::string_view key, const Strong& strong, const Weak& weak) {
  constexpr double kFirst = 0.3;
  constexpr double kPlacesToHalf = 3;
  constexpr double kMiddle = 0.02;
  constexpr double kWeak = 0.01;
  const auto at = std::find(strong.begin(), strong.end(), key);
  if (at != strong.end()) return kFirst * std::exp2(-static_cast<double>(at - strong.begin()) / kPlacesToHalf);
  const auto low = std::find(weak.begin(), weak.end(), key);
  return low == weak.end() ? kMiddle : kWeak / static_cast<double>(1 + (low - weak.begin()));
}

/// Of the factor's most influential parameter.
double expected_effect(const Factor& factor, bool gpu, const schema::DeviceLearning& learned) {
  constexpr double kPriorRuns = 4;
  double most = 0;
  for (const auto& key : factor.keys) {
    const double prior =
        gpu ? prior_effect(key, kStrongOnGpu, kWeakOnGpu) : prior_effect(key, kStrongOnCpu, kWeakOnCpu);
    const auto seen = learned.effects.find(key);
    const auto own = seen == learned.effects.end() ? schema::SettingEffect{} : seen->second;
    most = std::max(most, stats::shrunk(prior, kPriorRuns, own.mean, own.runs));
  }
  return most;
}

Factor single(const Dimension& dimension) {
  Factor factor{dimension.key, {dimension.key}, {Configuration{}}, true};
  for (const auto& value : dimension.values) {
    factor.levels.push_back(Configuration{{dimension.key, value}});
    factor.ordered = factor.ordered && value.is_number();
  }
  factor.is_threads = dimension.key == "intra_op_num_threads" || dimension.key == "parallel_sessions";
  return factor;
}

/// Every pair of the two dimensions' values that has its own canonical form.
Factor joint(const Dimension& outer, const Dimension& inner) {
  const auto outer_factor = single(outer);
  const auto inner_factor = single(inner);
  Factor factor{outer.key + " x " + inner.key,
                {outer.key, inner.key},
                {},
                false,
                outer_factor.is_threads || inner_factor.is_threads,
                inner_factor.levels.size()};
  for (const auto& first : outer_factor.levels)
    for (const auto& second : inner_factor.levels) factor.levels.push_back(first.merged(second));
  return factor;
}

/// A mode's inner setting only counts where the mode is set.
void drop_inner_without_outer(Factor& factor) {
  std::erase_if(factor.levels, [&](const Configuration& level) {
    return level.contains(factor.keys[1]) && !level.contains(factor.keys[0]);
  });
}

/// Binding, CUDA graph and fixed dimensions, as far as they are searched: all combinations that the space allows.
Factor binding(const SearchSpace& space, const std::vector<const Dimension*>& dimensions) {
  Factor factor;
  factor.levels = {Configuration{}};
  for (const auto* dimension : dimensions) {
    factor.name += (factor.name.empty() ? "" : " x ") + dimension->key;
    factor.keys.push_back(dimension->key);
    const auto before = factor.levels;
    for (const auto& value : dimension->values)
      for (const auto& level : before) factor.levels.push_back(level.with(dimension->key, value));
  }
  factor.is_binding = true;
  auto allowed = factor.levels;
  std::erase_if(allowed, [&](const Configuration& level) { return !level.empty() && !space.allows(level); });
  // Another rule may forbid everything around the defaults; then nothing is known of these.
  if (allowed.size() > 1) factor.levels = std::move(allowed);
  return factor;
}

/// Fewer rewrites of the graph gained nowhere, nor did naming an attention kernel (ViT-B/16 on an H200: one is the
/// runtime's own choice, the other 1.16 times slower), and what is weak is no guess.
bool may_gain_on_gpu(std::string_view key) {
  return key != "graph_optimization_level" && key != "sdpa_kernel" &&
         std::find(kWeakOnGpu.begin(), kWeakOnGpu.end(), key) == kWeakOnGpu.end();
}

bool fixes_dimensions(const Configuration& level) { return level.get_or("override_free_dimensions", false).as_bool(); }

/// How much a level promises, from the H200 measurements: a graph first, then the stream of our own, then bound memory.
int promise(const Configuration& level) {
  const auto io = level.get_or("io_binding", "none");
  int points = replays_graph(level) ? 10 : 0;
  if (io.as_text() == "stream") points += 3;
  if (io.as_text() == "device") points += 2;
  if (io.as_text() == "pinned") points += 1;
  return points;
}

}  // namespace

std::optional<std::size_t> Factor::level_of(const Configuration& configuration) const {
  Configuration mine;
  for (const auto& key : keys)
    if (const auto* value = configuration.find(key)) mine.set(key, *value);
  const auto at = std::find(levels.begin(), levels.end(), mine);
  if (at == levels.end()) return std::nullopt;
  return static_cast<std::size_t>(at - levels.begin());
}

Configuration Factor::apply(const SearchSpace& space, const Configuration& configuration, std::size_t level) const {
  auto changed = configuration;
  for (const auto& key : keys) changed.unset(key);
  return space.canonical(changed.merged(levels[level]));
}

std::vector<Factor> make_factors(const SearchSpace& space, const schema::DeviceLearning& learned) {
  std::vector<Factor> factors;
  std::set<std::string> taken;
  const auto join = [&](const std::string& outer_key, const std::string& inner_key) {
    const auto* outer = space.dimension(outer_key);
    const auto* inner = space.dimension(inner_key);
    if (outer == nullptr || inner == nullptr) return false;
    factors.push_back(joint(*outer, *inner));
    taken.insert({outer_key, inner_key});
    return true;
  };
  const bool gpu = searches_gpu(space);
  if (gpu) {
    std::vector<const Dimension*> parts;
    for (const auto* key : {"io_binding", "enable_cuda_graph", "trt_cuda_graph_enable", "override_free_dimensions"})
      if (const auto* dimension = space.dimension(key)) parts.push_back(dimension);
    if (!parts.empty()) factors.push_back(binding(space, parts));
    for (const auto* part : parts) taken.insert(part->key);
  } else {
    join("intra_op_num_threads", "parallel_sessions");
  }
  if (join("execution_mode", "inter_op_num_threads")) drop_inner_without_outer(factors.back());
  for (const auto& dimension : space.dimensions())
    if (taken.count(dimension.key) == 0) {
      factors.push_back(single(dimension));
      factors.back().is_threads = factors.back().is_threads && !gpu;
    }
  std::stable_sort(factors.begin(), factors.end(), [&](const Factor& a, const Factor& b) {
    return expected_effect(a, gpu, learned) > expected_effect(b, gpu, learned);
  });
  return factors;
}

bool searches_gpu(const SearchSpace& space) {
  return std::any_of(space.dimensions().begin(), space.dimensions().end(), [](const Dimension& dimension) {
    const auto* param = schema::find_param(dimension.key);
    return param != nullptr && !param->providers.empty() && schema::runs_on_gpu(param->providers.front());
  });
}

bool searches_torch(const SearchSpace& space) {
  return std::any_of(space.dimensions().begin(), space.dimensions().end(), [](const Dimension& dimension) {
    const auto* param = schema::find_param(dimension.key);
    return param != nullptr && param->scope == schema::ParamScope::torch_option;
  });
}

std::size_t likely_level(const Factor& factor) {
  for (const auto* mild : {"extended", "HEURISTIC"})
    for (std::size_t level = 1; level < factor.levels.size(); ++level)
      if (factor.levels[level].values().begin()->second == schema::Value(mild)) return level;
  return factor.levels.size() / 2;
}

std::size_t guessed_level(const Factor& factor) {
  return factor.name == "batch_size" ? factor.levels.size() - 1 : likely_level(factor);
}

std::vector<std::size_t> guessed_factors(const std::vector<Factor>& factors) {
  std::vector<std::size_t> guessed;
  for (std::size_t at = 0; at < factors.size() && guessed.size() < kGuesses; ++at)
    if (!factors[at].is_binding && may_gain_on_gpu(factors[at].keys[0])) guessed.push_back(at);
  return guessed;
}

std::vector<std::size_t> promising_bindings(const Factor& factor) {
  const bool can_fix = std::any_of(factor.levels.begin(), factor.levels.end(), fixes_dimensions);
  std::vector<std::size_t> levels;
  for (std::size_t level = 1; level < factor.levels.size(); ++level) {
    const auto& settings = factor.levels[level];
    const bool is_free_twin =
        can_fix && !fixes_dimensions(settings) && settings.get_or("io_binding", "none") != schema::Value("device");
    if (!is_free_twin) levels.push_back(level);
  }
  std::stable_sort(levels.begin(), levels.end(),
                   [&](std::size_t a, std::size_t b) { return promise(factor.levels[a]) > promise(factor.levels[b]); });
  return levels;
}

Configuration defaults_in_graph(const SearchSpace& space) {
  for (const auto& factor : make_factors(space, {})) {
    if (!factor.is_binding) continue;
    for (const auto level : promising_bindings(factor))
      if (auto configuration = factor.apply(space, space.defaults(), level);
          replays_graph(factor.levels[level]) && space.allows(configuration))
        return configuration;
  }
  return {};
}

}  // namespace ridgeline::search
