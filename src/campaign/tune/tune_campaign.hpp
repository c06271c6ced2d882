// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranking.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "config/config_patch.hpp"
#include "execute/calls.hpp"
#include "schema/device_learning.hpp"
#include "schema/environment.hpp"
#include "schema/tune_run.hpp"
#include "search/space_builder.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// What `ridgeline tune` was asked for, and what it finds in this process.
struct TuneRequest : schema::TuneRequest {
  schema::Configuration current;                       ///< read from config.yaml, all that it has
  std::map<std::string, std::string> current_origins;  ///< TuneRun::current_origins by their keys
  std::vector<config::UnreadSetting> unread;           ///< of config.yaml: an error if it concerns what is tuned
  std::string file_provider;                           ///< TuneRun::file_provider
  schema::Configuration reference;                     ///< WorkloadKind::reference of the workload's kind
  schema::Configuration gpu_reference;                 ///< WorkloadKind::gpu_reference, for models too large for that
  std::filesystem::path reference_folder;              ///< where reference outputs are kept
  std::filesystem::path ceilings_folder;           ///< where what each GPU reaches is kept; "" = measured in every run
  bool fresh_finals = true;                        ///< finalists are compared in processes that have run nothing before
  std::optional<schema::Environment> environment;  ///< unset: probed
  /// Asked when the space is known and nothing has been measured; an error ends the run there. Unset: not asked.
  std::function<base::Result<void>(const std::vector<schema::Dimension>&)> accept_space;
};

struct TimeForecast;

/// How long a run that has begun goes on, in seconds.
struct RunForecast {
  double all_s = 0;          ///< from its beginning to its end, at most its limit
  double search_s = 0;       ///< that the search goes on
  double comparisons_s = 0;  ///< after it
  std::size_t trials = 0;    ///< that are likely to be tried
  bool is_news = false;      ///< the first one, or much has changed since one that was
};

/// What a display hears. Every call comes from the campaign's thread.
class CampaignObserver {
 public:
  virtual ~CampaignObserver() = default;
  virtual void environment_ready(const schema::TuneRun&) {}
  virtual void model_ready(const schema::TuneRun&) {}
  /// The forecast counts what the search is likely to try, of a grid all that the rules leave.
  virtual void space_ready(const schema::TuneRun&, const TimeForecast&) {}
  /// After each trial once the first were measured.
  virtual void forecast_changed(const RunForecast&) {}
  /// A step before or after the search ("reference outputs", "comparing finalist 2 of 3").
  virtual void stage(std::string_view /*title*/) {}
  virtual void trial_started(const schema::TunedTrial&, std::size_t /*remaining*/) {}
  virtual void trial_finished(const schema::TunedTrial&, const schema::TrialOutcome&) {}
  /// It was measured once more, and what that says is its number from now on.
  virtual void trial_taken_again(const schema::TunedTrial&, const schema::TrialOutcome&) {}
  virtual void pair_finished(const schema::TunedPair&) {}
  /// The run has its answer and TuneRun::time_spent.
  virtual void run_ended(const schema::TuneRun&) {}
  virtual void note(const schema::Message&) {}
};

struct TuneResult {
  schema::TuneRun run;
  analysis::OutcomesByKey outcomes;
  analysis::PairsByKey pairs;
  schema::DeviceLearning learned;  ///< what runs of other models taught of the device, before this one
};

/// Environment, model, space, search, finalists, verdict, leave-one-out; every record is stored as soon as it exists,
/// so a killed run loses at most the running trial and the same call continues. An interrupt ends it early with what
/// was found.
class TuneCampaign {
 public:
  TuneCampaign(execute::Executor& executor, store::Store& store, const base::Clock& clock, CampaignObserver& observer,
               std::function<bool()> cancelled);
  [[nodiscard]] base::Result<TuneResult> run(const TuneRequest& request);

 private:
  execute::Executor& executor_;
  store::Store& store_;
  const base::Clock& clock_;
  CampaignObserver& observer_;
  std::function<bool()> cancelled_;
};

/// A stored run with every outcome and pair it names; outcomes are judged by the run's accuracy tolerance.
[[nodiscard]] base::Result<TuneResult> complete_result(store::Store& store, const schema::Run& stored);

}  // namespace ridgeline::campaign
