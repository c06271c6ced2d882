// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/error.hpp"
#include "schema/trial_spec.hpp"
#include "workload/onnx/ort_search.hpp"
#include "workload/workload.hpp"

namespace ridgeline::workload {

/// An ONNX model in ONNX Runtime: `parallel_sessions` sessions of it, each run by `concurrent_runs` threads, a caller
/// each, all fed with the same inputs.
/// Nothing is loaded before prepare. The library is runtime.library_path when that is set, else the first one found;
/// when runtime.version is set, a library of another version is refused (unavailable), so that no result is filed under
/// the wrong one. effective_settings holds the config entries as the session options report them and the number of
/// intra-op threads as counted in the process.
[[nodiscard]] std::unique_ptr<Workload> make_ort_workload(schema::TrialSpec spec, OrtSearchEnvironment environment);

}  // namespace ridgeline::workload
