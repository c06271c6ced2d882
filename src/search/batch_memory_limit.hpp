// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "search/bench_searcher.hpp"

namespace ridgeline::search {

/// What is known about which batches fit into memory, by precision; on a CPU by workers too, as they take host memory.
/// Likewise which were refused: a data set that is smaller than a batch is smaller than every larger one.
class BatchMemoryLimit {
 public:
  BatchMemoryLimit(double headroom, bool on_cpu) : headroom_(headroom), on_cpu_(on_cpu) {}

  /// Trials of the loader alone tell nothing about the device's memory; only a refusal (TrialStatus::invalid) counts.
  void observe(const BenchProposal& proposal, const BenchObservation& observation);

  /// Why the settings need not be tried: a batch no larger ran out of memory or was refused under the same
  /// precision. nullopt: unknown.
  [[nodiscard]] std::optional<schema::Message> too_large(const schema::TrainingSettings& settings) const;

  /// The next batch to try between the largest that fits with headroom and the smallest that does not; nullopt when
  /// nothing was too large, nothing fits, or the gap is within a sixteenth.
  [[nodiscard]] std::optional<std::int64_t> next_batch(schema::AmpMode amp) const;

 private:
  struct Known {
    std::map<std::int64_t, std::optional<double>> fits;  ///< batches that ran, with their memory
    std::optional<std::int64_t> failed;                  ///< smallest that ran out of memory
    int failed_workers = 0;
    std::optional<std::int64_t> refused;  ///< smallest that was
    std::optional<double> capacity_gb;
  };
  [[nodiscard]] bool within_headroom(const Known& known, const std::optional<double>& memory_gb) const;

  double headroom_;
  bool on_cpu_;
  std::map<schema::AmpMode, Known> known_;
};

}  // namespace ridgeline::search
