// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "campaign/stream/tuned_settings.hpp"
#include "execute/executor.hpp"
#include "execute/stream_child.hpp"
#include "schema/found_runtime.hpp"
#include "schema/stream_progress.hpp"
#include "schema/stream_run.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// A stream that is to be run.
struct StreamCampaignRequest : schema::StreamRequest {
  schema::WorkloadRef workload;
  std::string provider;  ///< ExecutionProvider::id, "auto", or "": as tune chooses
  schema::RuntimeRequest where;
  schema::Configuration configuration;
  std::vector<schema::Message> notes{};  ///< on what was asked for
  std::optional<TunedSettings> tuned;    ///< those that the fields above were taken from
  execute::StreamChildOptions child;     ///< with what is told while it runs, less on_status
  std::function<void(const schema::StreamProgress&)> on_progress{};  ///< about five times a second
  std::function<void(double)> on_rate{};                             ///< of several, before each
};

/// Finds model, runtime and provider, runs the pipeline in a process of its own and stores what it did, also of a run
/// that failed. `stage` is told what begins. Errors: those of the model and the runtime, and of a pipeline that never
/// became ready; what ends a running one is in the run.
[[nodiscard]] base::Result<schema::StreamRun> run_stream_campaign(const StreamCampaignRequest& request,
                                                                  execute::Executor& executor, store::Store& store,
                                                                  const std::function<void(const std::string&)>& stage);

/// Measures a stored run again, as it was run then; of several rates the one that its numbers are of. Nothing is kept.
/// One that had no end of its own is stopped after as long as then. Errors: invalid_argument for frames that came from
/// standard input, and those of a pipeline that fails.
[[nodiscard]] base::Result<schema::StreamRun> rerun_stream(const schema::StreamRun& then,
                                                           execute::StreamChildOptions child);

}  // namespace ridgeline::campaign
