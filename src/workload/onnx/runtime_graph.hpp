// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "schema/runtime_graph.hpp"
#include "schema/trial_spec.hpp"
#include "workload/onnx/ort_search.hpp"

namespace ridgeline::workload {

/// Creates a session of the spec's model and provider and reads the graph that it would run, written into the folder
/// for temporary files and removed at once, weights included. Of the configuration only its graph_level
/// counts. Free dimensions are fixed to the spec's shapes, so that every shape is known. Takes as long as creating a
/// session, and writing its weights.
/// Errors: those of creating a session; io (no room for the file); unsupported: a provider that compiles the graph into
/// one node (tensorrt), or operators whose results have no known shape.
[[nodiscard]] base::Result<schema::RuntimeGraph> read_runtime_graph(const schema::TrialSpec& spec,
                                                                    const OrtSearchEnvironment& search);

}  // namespace ridgeline::workload
