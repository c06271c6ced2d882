// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "execute/calls.hpp"
#include "schema/training_run.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// The origin under which a request tells where its batch sizes come from.
inline constexpr std::string_view kBatchOrigin = "batch sizes";

/// What `ridgeline bench` was asked for, and what it finds in this process.
struct BenchRequest : schema::BenchRequest {
  std::string device{schema::kCpuDevice};
  std::string device_id;
  double cores = 0;           ///< that loader and step may use; 0: not known
  double spent_before_s = 0;  ///< of max_time, before the run began: what was asked of the job
  std::optional<schema::TrainingSettings> current;
  std::vector<schema::BenchOrigin> origins;
  std::vector<schema::Message> notes;  ///< for BenchRun::notes
  std::vector<std::string> levers;     ///< each tried under what is recommended (schema::training_levers)
  bool levers_by_name = false;         ///< somebody chose them
  std::map<std::string, std::string> refused_levers;  ///< that have no effect on this training, and why
  /// Whether the numbers of workers are nobody's choice: more are tried where workers wait.
  bool own_workers = false;
  /// Asked when steps wait for their batches: what makes a sample dear, for BenchRun::notes. In that many seconds.
  std::function<std::vector<schema::Message>(const schema::TrainingSettings&, double limit_s)> explain_loader;
};

/// Told about a run as it goes on. The run passed along is the one being made.
class BenchObserver {
 public:
  virtual ~BenchObserver() = default;
  virtual void started(const schema::BenchRun& /*run*/) {}
  virtual void stage(std::string_view /*title*/) {}
  virtual void trial_started(const schema::BenchTrial& /*trial*/, std::size_t /*remaining*/) {}
  virtual void trial_finished(const schema::BenchTrial& /*trial*/) {}
};

/// Search, leaders measured again in counterbalanced order, stability run of the recommended settings, experiments,
/// answers. Every trial is stored as soon as it ends, so a killed run loses at most the running one and the same call
/// goes on from there.
class BenchCampaign {
 public:
  BenchCampaign(execute::Executor& executor, store::Store& store, BenchObserver& observer,
                std::function<bool()> cancelled);
  /// Errors: what ends a run before its first answer; invalid_argument where every setting tried was refused (batches
  /// larger than the data set), and nothing of it is stored. Stopped by a signal or by its time, the run comes back
  /// with what was found and `interrupted` or `interruption` set.
  [[nodiscard]] base::Result<schema::BenchRun> run(const BenchRequest& request);

 private:
  execute::Executor& executor_;
  store::Store& store_;
  BenchObserver& observer_;
  std::function<bool()> cancelled_;
};

}  // namespace ridgeline::campaign
