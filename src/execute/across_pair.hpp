// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "execute/worker_jobs.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::execute {

/// Runs a comparison whose arms cannot share a process (PairedSpec::across). Every session has a worker process of its
/// own, made and ended with it: two sessions of one process have more in common than of two, so the scatter between
/// processes has to show in the rounds. One process works at a time; the other one is stopped, and whether it really
/// computed nothing is read from outside. What ends an arm is its outcome's failure, which names the arm.
/// Errors: no worker can be started; cancelled; out_of_time.
[[nodiscard]] base::Result<schema::PairedOutcome> run_across(const WorkerOptions& options, const Job& job,
                                                             const schema::PairedSpec& spec);

}  // namespace ridgeline::execute
