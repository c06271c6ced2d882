// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schema/candidate.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::workload {

/// A program around LoadingCode::python that fails where the session runs on another provider than the trial's, times
/// one inference at a time for a second, and writes "median_s" to the file that RIDGELINE_METRICS_FILE names.
[[nodiscard]] std::string python_program(const schema::LoadingCode& code, const schema::TrialSpec& spec);
/// The same around LoadingCode::cpp, for C++17 and the headers of ONNX Runtime. Input files are not read: their inputs
/// are generated.
[[nodiscard]] std::string cpp_program(const schema::LoadingCode& code, const schema::TrialSpec& spec);

}  // namespace ridgeline::workload
