// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "search/search_space.hpp"

namespace ridgeline::search {

/// What a searcher varies as one thing: usually one parameter; threads with sessions, and the execution mode with its
/// inter-op threads, because their members mean nothing alone.
struct Factor {
  std::string name;  ///< "graph_optimization_level", "intra_op_num_threads x parallel_sessions"
  std::vector<std::string> keys;
  std::vector<schema::Configuration> levels;  ///< partial configurations over `keys`; the first is all unset
  bool ordered = false;                       ///< one numeric key: neighbouring levels act alike
  bool is_threads = false;                    ///< holds intra_op_num_threads or parallel_sessions
  std::size_t inner = 1;  ///< joint threads: levels of the second key, which varies fastest in `levels`

  /// Which level the configuration has; nullopt when its values are none of the candidates.
  [[nodiscard]] std::optional<std::size_t> level_of(const schema::Configuration& configuration) const;
  /// The configuration with this factor at `level`, canonical.
  [[nodiscard]] schema::Configuration apply(const SearchSpace& space, const schema::Configuration& configuration,
                                            std::size_t level) const;
};

/// Every dimension in exactly one factor, the most influential first (threads, then batch, graph level, mode ...).
[[nodiscard]] std::vector<Factor> make_factors(const SearchSpace& space);

}  // namespace ridgeline::search
