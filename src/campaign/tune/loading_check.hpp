// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/run_context.hpp"

namespace ridgeline::campaign {

/// Runs the lines that load a configuration, in Python by the interpreter whose package the runtime is from, in C++ by
/// the compiler and the headers that are there, and sets CodeRun of both; those of a PyTorch model in Python only, by
/// the interpreter of the trial. Whatever fails or is not there is told in CodeRun::problem. `spec`: a trial of what
/// they load.
void run_code(RunContext& context, const schema::TrialSpec& spec, schema::LoadingCode& code);

}  // namespace ridgeline::campaign
