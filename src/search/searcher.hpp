// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/configuration.hpp"
#include "schema/device_learning.hpp"
#include "schema/tune_run.hpp"
#include "search/search_space.hpp"

namespace ridgeline::search {

/// What to try next.
struct Proposal {
  schema::Configuration configuration;
  schema::TrialStage stage = schema::TrialStage::search;
  schema::Message reason;  ///< "screening intra_op_num_threads"
  /// A candidate whose cost (see Observation) is surely above this may be stopped early; nullopt: measure in full.
  std::optional<double> stop_above;
};

/// What came of it. cost is the objective turned so that lower is better: nanoseconds for latency and p99, nanoseconds
/// an item for throughput. Unset when the trial failed, broke a constraint or was rejected.
struct Observation {
  std::optional<double> cost;
  double cost_low = 0;  ///< 95 % interval of cost
  double cost_high = 0;
  double setup_s = 0;          ///< before anything could be timed: making the session and its first run
  bool stopped_early = false;  ///< stopped early as a clear loser; cost is then a lower-quality figure
  bool out_of_memory = false;  ///< ended so; nothing hungrier is tried then
  bool met_denormals = false;  ///< it computed with denormal numbers
};

/// Decides which configuration to measure next. Pure: no clock, files or threads; the same observations give the same
/// proposals. Not thread-safe.
///   while (auto proposal = searcher->propose()) searcher->observe(*proposal, measure(*proposal));
class Searcher {
 public:
  virtual ~Searcher() = default;
  /// The next trial, or nullopt when the strategy has finished. Never proposes a configuration twice.
  [[nodiscard]] virtual std::optional<Proposal> propose() = 0;
  /// A further trial that does not depend on what is not observed yet, so that it may run beside it; nullopt when there
  /// is none until more is observed. Proposals are observed in the order in which they were made.
  [[nodiscard]] virtual std::optional<Proposal> propose_beside() { return std::nullopt; }
  /// What is likely to be proposed next, whatever is observed until then, in this order: so that it may be prepared.
  [[nodiscard]] virtual std::vector<schema::Configuration> foreseen() const { return {}; }
  /// What comes next in whatever order prefer() likes; empty: the next one is decided already.
  [[nodiscard]] virtual std::vector<schema::Configuration> in_any_order() const { return {}; }
  /// Of in_any_order() these come before the others.
  virtual void prefer(const std::vector<schema::Configuration>& /*first*/) {}
  virtual void observe(const Proposal& proposal, const Observation& observation) = 0;
  /// What was observed of that configuration looks otherwise now: the machine's speed at that time is known better, or
  /// it was measured again. One that was not observed is left alone.
  virtual void revise(const schema::Configuration& configuration, const Observation& observation) = 0;
  /// Estimate of proposals still to come, for progress display; grows when the search keeps finding gains.
  [[nodiscard]] virtual std::size_t remaining() const = 0;
  /// Whether what was tried so far tells little of what settings can bring.
  [[nodiscard]] virtual bool is_opening() const { return false; }
  /// Values that were left out on the way, with the reason: hungrier than what ran out of memory.
  [[nodiscard]] virtual std::vector<schema::PrunedParam> left_out() const = 0;
};

struct SearcherOptions {
  std::uint64_t seed = 1;
  std::size_t random_budget = 40;  ///< proposals of the random strategy
  double min_effect = 0.02;
  schema::Configuration current;  ///< what the user has now; tried right after the default
  /// Tried instead of the default, which follows only if this does not run. Empty: nothing is known to be better.
  schema::Configuration opening{};
  schema::DeviceLearning learned{};  ///< decides, with what other devices taught, which parameter comes first
};

/// "adaptive", "grid", "quick", "random"; an unknown name is an error with the nearest one.
[[nodiscard]] base::Result<std::unique_ptr<Searcher>> make_searcher(const std::string& name, const SearchSpace& space,
                                                                    const SearcherOptions& options);

/// Up to `most` trials that do not depend on each other, so that they can run side by side; empty: the strategy has
/// finished. Of a Searcher or a BenchSearcher.
template <typename AnySearcher>
[[nodiscard]] auto next_batch(AnySearcher& searcher, std::size_t most) {
  auto proposal = searcher.propose();
  std::vector<typename decltype(proposal)::value_type> batch;
  while (proposal) {
    batch.push_back(std::move(*proposal));
    if (batch.size() >= most) break;
    proposal = searcher.propose_beside();
  }
  return batch;
}

}  // namespace ridgeline::search
