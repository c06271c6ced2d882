// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "schema/candidate.hpp"
#include "schema/model_description.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::workload {

/// The line that the timed part of a program begins with: python/ridgeline_infer/program_ahead.py waits there.
inline constexpr std::string_view kTimedPart = "# timed from here on\n";

/// A program around LoadingCode::python of torch_code that loads the user's function, times one call at a time for a
/// second, until the device is done with it, with the copies that the trial timed, and writes "median_s" to the file
/// that RIDGELINE_METRICS_FILE names. It fails where something was to be compiled and nothing was.
[[nodiscard]] std::string torch_program(const schema::LoadingCode& code, const schema::TrialSpec& spec,
                                        const schema::ModelDescription& model);

}  // namespace ridgeline::workload
