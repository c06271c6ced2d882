// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "schema/device_learning.hpp"
#include "search/search_space.hpp"

namespace ridgeline::search {

/// What a searcher varies as one thing: usually one parameter; threads with sessions, the execution mode with its
/// inter-op threads, and on a GPU the binding with CUDA graphs and fixed dimensions, because their members mean nothing
/// alone.
struct Factor {
  std::string name;  ///< "graph_optimization_level", "intra_op_num_threads x parallel_sessions"
  std::vector<std::string> keys;
  std::vector<schema::Configuration> levels;  ///< partial configurations over `keys`; the first is all unset
  bool ordered = false;                       ///< one numeric key: neighbouring levels act alike
  bool is_threads = false;                    ///< holds intra_op_num_threads or parallel_sessions
  std::size_t inner = 1;    ///< joint threads: levels of the second key, which varies fastest in `levels`
  bool is_binding = false;  ///< the GPU's joint factor, in which not every level is worth a try

  /// Which level the configuration has; nullopt when its values are none of the candidates.
  [[nodiscard]] std::optional<std::size_t> level_of(const schema::Configuration& configuration) const;
  /// The configuration with this factor at `level`, canonical.
  [[nodiscard]] schema::Configuration apply(const SearchSpace& space, const schema::Configuration& configuration,
                                            std::size_t level) const;
};

/// Every dimension in exactly one factor, the most influential first: as other devices taught (threads, then batch,
/// graph level, mode ...; on a GPU binding and graph, batch, sessions, layout ...), moderated by what this one did.
[[nodiscard]] std::vector<Factor> make_factors(const SearchSpace& space, const schema::DeviceLearning& learned = {});

/// Whether settings of a GPU provider are searched: a trial is then short, and CPU threads hardly matter.
[[nodiscard]] bool searches_gpu(const SearchSpace& space);
/// Whether settings of PyTorch are searched.
[[nodiscard]] bool searches_torch(const SearchSpace& space);

/// The level most likely to win when only one is tried: the mildest step down of graph optimization or of the search
/// for convolutions, else the middle candidate.
[[nodiscard]] std::size_t likely_level(const Factor& factor);

/// The level that a first guess at the best configuration takes: the largest batch, as throughput on a GPU grows with
/// it until memory ends, else the likely one.
[[nodiscard]] std::size_t guessed_level(const Factor& factor);

/// Of all factors but the binding those that gain most on a GPU, at most kGuesses of them; none that gained nowhere.
inline constexpr std::size_t kGuesses = 4;
[[nodiscard]] std::vector<std::size_t> guessed_factors(const std::vector<Factor>& factors);

/// Levels of the joint binding factor, the most promising first, without those that only repeat another one's point:
/// with dimensions to fix, fixing them is tried with every binding, leaving them free with few.
[[nodiscard]] std::vector<std::size_t> promising_bindings(const Factor& factor);
/// The defaults with the most promising binding that replays a CUDA graph; empty: the space has none.
[[nodiscard]] schema::Configuration defaults_in_graph(const SearchSpace& space);

}  // namespace ridgeline::search
