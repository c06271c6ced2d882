// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/training_run.hpp"

namespace ridgeline::search {

inline constexpr double kComputeShare = 0.4;  ///< of a bounded search's time, for trials of computing alone
/// Over the best measured: a smaller predicted gain is within the error of both.
inline constexpr double kWorthMeasuring = 1.005;

/// A training trial to make next.
struct BenchProposal {
  schema::TrainingSettings settings;
  schema::DataMode data = schema::DataMode::loader;
  schema::BenchStage stage = schema::BenchStage::sweep;
  schema::Message reason;
};

/// What came of it.
struct BenchObservation {
  schema::TrialStatus status = schema::TrialStatus::ok;
  double samples_per_s = 0;         ///< of an ok trial
  schema::StepPhases phases;        ///< medians
  std::optional<double> memory_gb;  ///< peak reserved
  std::optional<double> capacity_gb;
  double duration_s = 0;   ///< of the whole trial
  std::int64_t steps = 0;  ///< in all, warm-up too
  [[nodiscard]] bool ok() const noexcept { return status == schema::TrialStatus::ok; }
};

/// Decides which training trial to make next. Pure, as search::Searcher.
///   while (auto proposal = searcher->propose()) searcher->observe(*proposal, measure(*proposal));
class BenchSearcher {
 public:
  virtual ~BenchSearcher() = default;
  /// nullopt: finished. Never the same settings and data mode twice.
  [[nodiscard]] virtual std::optional<BenchProposal> propose() = 0;
  /// One more that does not depend on those not yet observed; nullopt: there is none.
  [[nodiscard]] virtual std::optional<BenchProposal> propose_beside() { return std::nullopt; }
  virtual void observe(const BenchProposal& proposal, const BenchObservation& observation) = 0;
  /// How much of the time for the search is used up, 0 to 1: groundwork ends in time for what rests on it.
  virtual void spent(double) {}
  /// Estimate of proposals still to come.
  [[nodiscard]] virtual std::size_t remaining() const = 0;
  /// Combinations left out on the way, with the reason.
  [[nodiscard]] virtual const std::vector<schema::SkippedSettings>& skipped() const = 0;
};

struct BenchSearchOptions {
  double headroom = 0.10;                           ///< share of the memory that a batch found by bisection leaves free
  std::optional<schema::TrainingSettings> current;  ///< what the user has: measured too
  bool on_cpu = false;                              ///< memory is the host's: copies and pinning cost nothing
  bool loads = true;                                ///< false: random data, which no loader brings
  double cores = 0;                                 ///< that step and loader share; 0: not known
  double time_s = 0;                                ///< for the search; 0: no limit
  schema::TrainingPlan plan;                        ///< of its trials: what they take
};

/// "grid": every combination, batches upward; what is larger than a batch that ran out of memory is left out, and the
/// largest that fits is looked for between the two. "adaptive": the compute curve (batches on the device) and the
/// loader curve (batches dropped) by themselves, the joint optimum predicted from both, then measured, and its
/// neighbours, until no prediction is better than what was measured. With limited time it begins with a few trials
/// whose gaps it predicts, and goes on with the curves where time is left. An unknown name is an error with the
/// nearest one.
[[nodiscard]] base::Result<std::unique_ptr<BenchSearcher>> make_bench_searcher(const std::string& name,
                                                                               const schema::TrainingSpace& space,
                                                                               const BenchSearchOptions& options);

}  // namespace ridgeline::search
