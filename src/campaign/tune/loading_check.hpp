// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/run_context.hpp"

namespace ridgeline::campaign {

/// Runs the lines that load a configuration, in Python by the interpreter whose package the runtime is from, in C++ by
/// the compiler and the headers that are there, and sets CodeRun of both; those of a PyTorch model in Python only, by
/// the interpreter of the trial. Whatever fails or is not there is told in CodeRun::problem. `spec`: a trial of what
/// they load.
void run_code(RunContext& context, const schema::TrialSpec& spec, schema::LoadingCode& code);

/// Runs the code of the current configuration in the same way, as far as `code` was run, and sets
/// CodeRun::current_median_s: two programs of one kind can be compared, one with trials cannot. `current`: a trial of
/// that configuration, of an ONNX model.
void time_current_code(RunContext& context, const schema::TrialSpec& current, schema::LoadingCode& code);

}  // namespace ridgeline::campaign
