// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "schema/profiled_model.hpp"
#include "schema/trial_spec.hpp"
#include "workload/onnx/ort_search.hpp"

namespace ridgeline::workload {

/// Runs the spec's model under ONNX Runtime's own profiler, which writes to `folder`, and in turns without it. On a CPU
/// what memory and a large product of matrices reach is measured too. Errors: those of creating sessions and running
/// them; io.
[[nodiscard]] base::Result<schema::ProfiledModel> profile_onnx_model(const schema::TrialSpec& spec,
                                                                     const schema::ProfilePlan& plan,
                                                                     const std::string& folder,
                                                                     const OrtSearchEnvironment& search);

}  // namespace ridgeline::workload
