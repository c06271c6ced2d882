// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "execute/executor.hpp"
#include "schema/configuration.hpp"
#include "schema/found_runtime.hpp"
#include "schema/message.hpp"
#include "schema/model_description.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::campaign {

/// A model as the user names it, and where it is to run.
struct ModelWanted {
  const schema::WorkloadRef& workload;
  const std::string& provider;  ///< ExecutionProvider::id, "auto", or "": as tune chooses
  const schema::RuntimeRequest& where;
  const schema::Configuration& configuration;
};

/// Where and how the model runs: its shapes, the runtime and the provider.
struct FoundModel {
  schema::TrialSpec spec;
  schema::ModelDescription model;
};

/// Errors: those of reading the model and of finding a runtime.
[[nodiscard]] base::Result<FoundModel> find_model_spec(const ModelWanted& wanted, execute::Executor& executor,
                                                       const schema::Environment& environment,
                                                       std::vector<schema::Message>& notes);

}  // namespace ridgeline::campaign
