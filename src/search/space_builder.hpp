// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/configuration.hpp"
#include "schema/environment.hpp"
#include "schema/model_description.hpp"
#include "schema/tune_run.hpp"
#include "search/search_space.hpp"

namespace ridgeline::search {

/// The user's own word on the space (--space FILE, --set, --batch).
struct SpaceRequest {
  std::vector<schema::Dimension> values;  ///< replaces the candidates of these keys; also switches on unsearched ones
  schema::Configuration fixed;            ///< pinned: not searched
  std::map<std::string, std::string> asked_by;  ///< keys that the command line names, with its words ("--batch 3")
  std::vector<std::string> exclude;             ///< keys not to be searched
  std::vector<std::string>
      constraints;           ///< "intra_op_num_threads * parallel_sessions <= 8": key/number (*|+) ... relation ...
  bool only_listed = false;  ///< search nothing but `values`
  std::vector<std::string> always_set;  ///< listed keys without a default that no configuration leaves unset
  std::string named;                    ///< a space of resolve_named_space, or ""
};

struct SpaceInput {
  std::string provider;
  schema::Objective objective = schema::Objective::latency;
  schema::Environment environment;
  schema::ModelDescription model;
  schema::RuntimeIdentity runtime;
  SpaceRequest request;
  std::string io = "host";         ///< TrialSpec::io
  bool memory_is_bounded = false;  ///< a constraint bounds memory, so that savings matter beside speed
};

struct BuiltSpace {
  SearchSpace space;
  std::vector<schema::PrunedParam> pruned;  ///< each key and value left out, with its reason
};

/// Catalogue rows of the provider, candidates from the machine, pruned by what can matter for this model and runtime
/// version. Errors: a constraint that cannot be read or leaves nothing.
[[nodiscard]] base::Result<BuiltSpace> build_space(const SpaceInput& input);

}  // namespace ridgeline::search
