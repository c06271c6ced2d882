// SPDX-License-Identifier: Apache-2.0
#include "search/factor.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace ridgeline::search {
namespace {

using schema::Configuration;
using schema::Dimension;

/// Most influential first, from measurements on CPU and CUDA providers; a key that is not here comes in the middle,
/// where the catalogue's order decides.
constexpr std::array<std::string_view, 13> kStrong{"intra_op_num_threads",
                                                   "parallel_sessions",
                                                   "batch_size",
                                                   "graph_optimization_level",
                                                   "cudnn_conv_algo_search",
                                                   "enable_cuda_graph",
                                                   "io_binding",
                                                   "use_io_binding",
                                                   "prefer_nhwc",
                                                   "execution_mode",
                                                   "inter_op_num_threads",
                                                   "intra_op_allow_spinning",
                                                   "enable_cpu_mem_arena"};
constexpr std::array<std::string_view, 4> kWeak{"intra_op_thread_affinities", "intra_op_spin_duration_us",
                                                "intra_op_spin_backoff_max", "force_spinning_stop"};

int importance(std::string_view key) {
  constexpr int kMiddle = 100;
  const auto strong = std::find(kStrong.begin(), kStrong.end(), key);
  if (strong != kStrong.end()) return static_cast<int>(strong - kStrong.begin());
  const auto weak = std::find(kWeak.begin(), kWeak.end(), key);
  return weak == kWeak.end() ? kMiddle : kMiddle + 1 + static_cast<int>(weak - kWeak.begin());
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

std::vector<Factor> make_factors(const SearchSpace& space) {
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
  join("intra_op_num_threads", "parallel_sessions");
  if (join("execution_mode", "inter_op_num_threads")) drop_inner_without_outer(factors.back());
  for (const auto& dimension : space.dimensions())
    if (taken.count(dimension.key) == 0) factors.push_back(single(dimension));
  std::stable_sort(factors.begin(), factors.end(),
                   [](const Factor& a, const Factor& b) { return importance(a.keys[0]) < importance(b.keys[0]); });
  return factors;
}

}  // namespace ridgeline::search
