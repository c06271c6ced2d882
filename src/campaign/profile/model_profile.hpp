// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/error.hpp"
#include "campaign/profile/profile_campaign.hpp"
#include "execute/executor.hpp"
#include "schema/profile.hpp"
#include "schema/profiled_model.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

class ModelRecording;

/// A model (ProfileRequest::model, which is set) that is to be run and profiled.
struct ModelProfileRequest : schema::ProfileRequest {
  schema::ProfilePlan plan;
  std::string trace_folder;  ///< where the events of the first process are kept (keep_trace); "": nowhere
  /// Of the executor's workers; must outlive the call. nullptr: none is recorded.
  const ModelRecording* recording = nullptr;
  int repeats = 1;  ///< processes, one after the other; from 2 on they are the profile's steps
};

/// Runs the model in a worker under ONNX Runtime's own profiler, in turns with a session without it, and stores what
/// was found. `stage` is told what begins. Errors: those of the model, the runtime and running it; cancelled.
[[nodiscard]] base::Result<MadeProfile> profile_model(const ModelProfileRequest& request, execute::Executor& executor,
                                                      store::Store& store,
                                                      const std::function<void(const std::string&)>& stage);

}  // namespace ridgeline::campaign
