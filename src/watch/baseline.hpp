// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "analysis/degradation_cause.hpp"
#include "analysis/probe_figure.hpp"
#include "base/error.hpp"
#include "schema/tune_run.hpp"
#include "store/store.hpp"

namespace ridgeline::watch {

/// What a service is compared with: a run's recommended trial as it was measured then.
struct Baseline {
  std::string name;  ///< "RUN/TRIAL"
  schema::TuneRun run;
  schema::TrialSpec spec;  ///< of the trial; its configuration is the recommended one
  analysis::ProbeFigure figure;
  analysis::ServiceState state;  ///< when it was measured
};

struct BaselineRequest {
  std::string run;       ///< an id or its beginning; "latest": the newest run with a recommendation for this machine
  std::string model;     ///< only runs of a file (or synthetic text) of this name; "": any
  std::string config{};  ///< for "latest": runs that were given this file come first
};

/// As RunRequest::config_path.
[[nodiscard]] std::string absolute_path(const std::filesystem::path& file);

/// The latest run is the newest that was given this file of settings (by its absolute path; where an older run knows a
/// relative name only, when no other run fits), else the newest; those two only when all that fit are of one model.
/// Errors: not_found (no such run; none that fits), invalid_argument (runs of several models, a run without a
/// recommendation, of another GPU or CPU than this machine has, or whose trial is lost), each naming what the run is of
/// and what is here.
[[nodiscard]] base::Result<Baseline> find_baseline(store::Store& store, const BaselineRequest& request,
                                                   const schema::Environment& environment);

/// The baseline that a run of our own just gave.
[[nodiscard]] base::Result<Baseline> baseline_of(store::Store& store, const schema::TuneRun& run);

}  // namespace ridgeline::watch
