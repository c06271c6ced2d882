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
#include "schema/stream_run.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// A stream that is to be run.
struct StreamCampaignRequest : schema::StreamRequest {
  schema::WorkloadRef workload;
  std::string provider;  ///< ExecutionProvider::id, "auto", or "": as tune chooses
  schema::RuntimeRequest where;
  schema::Configuration configuration;
  std::optional<TunedSettings> tuned;  ///< those that the fields above were taken from
  execute::StreamChildOptions child;   ///< with what is told while it runs
};

/// Finds model, runtime and provider, runs the pipeline in a process of its own and stores what it did, also of a run
/// that failed. `stage` is told what begins. Errors: those of the model and the runtime, and of a pipeline that never
/// became ready; what ends a running one is in the run.
[[nodiscard]] base::Result<schema::StreamRun> run_stream_campaign(const StreamCampaignRequest& request,
                                                                  execute::Executor& executor, store::Store& store,
                                                                  const std::function<void(const std::string&)>& stage);

/// Whether a load was borne: p99 within the SLO, no more drops than allowed, and a load that was what it should be.
[[nodiscard]] schema::StreamVerdict judge_stream(const schema::StreamRun& run);

}  // namespace ridgeline::campaign
