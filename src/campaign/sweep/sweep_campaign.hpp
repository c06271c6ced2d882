// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "execute/calls.hpp"
#include "schema/sweep.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// What `ridgeline sweep` was asked for, and what it finds in this process.
struct SweepRequest : schema::SweepRequest {
  std::string device_id;
  std::filesystem::path folder;  ///< trials go to folder/RUN/trial-N
};

/// Told about a run as it goes on. The run passed along is the one being made.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  virtual void started(const schema::SweepRun& /*run*/) {}
  virtual void trial_started(const schema::SweepTrial& /*trial*/, std::size_t /*remaining*/) {}
  virtual void trial_finished(const schema::SweepRun& /*run*/, const schema::SweepTrial& /*trial*/) {}
};

/// Every combination once as the strategy proposes them, then further rounds in counterbalanced order (of all that went
/// well; of adaptive those within 10 % of the best), then the answers. Every trial is stored as soon as it ends, so a
/// killed run loses at most the running one and the same call goes on from there; a stored trial counts as long as the
/// files it rested on are the same. Stored failures but out-of-memory and equal or longer timeouts are tried again.
class SweepCampaign {
 public:
  SweepCampaign(execute::Executor& executor, store::Store& store, SweepObserver& observer,
                std::function<bool()> cancelled);
  /// Errors: what ends a run before its first answer. Stopped by a signal or by its time, the run comes back with what
  /// was found and `interrupted` or `interruption` set.
  [[nodiscard]] base::Result<schema::SweepRun> run(const SweepRequest& request);

 private:
  execute::Executor& executor_;
  store::Store& store_;
  SweepObserver& observer_;
  std::function<bool()> cancelled_;
};

}  // namespace ridgeline::campaign
