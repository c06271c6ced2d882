// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/configuration.hpp"
#include "schema/environment.hpp"
#include "schema/model_description.hpp"
#include "schema/tune_request.hpp"
#include "schema/tune_run.hpp"
#include "search/search_space.hpp"

namespace ridgeline::search {

using schema::SpaceRequest;

struct SpaceInput {
  std::string provider;
  schema::Objective objective = schema::Objective::latency;
  schema::Environment environment;
  schema::ModelDescription model;
  schema::RuntimeIdentity runtime;
  SpaceRequest request;
  std::string tensor_location = "host";  ///< TrialSpec::tensor_location
  std::string precision{};               ///< TuneRequest::precision
  bool memory_is_bounded = false;        ///< a constraint bounds memory, so that savings matter beside speed
};

struct BuiltSpace {
  SearchSpace space;
  std::vector<schema::PrunedParam> pruned;  ///< each key and value left out, with its reason
};

/// Catalogue rows of the provider, candidates from the machine, pruned by what can matter for this model and runtime
/// version. Errors: a constraint that cannot be read or leaves nothing.
[[nodiscard]] base::Result<BuiltSpace> build_space(const SpaceInput& input);

}  // namespace ridgeline::search
