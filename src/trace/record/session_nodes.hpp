// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Adds the nodes that ONNX Runtime ran in the recorded runs of its sessions ("run of vit.onnx"), from the profiles in
/// the folder of the recording, to the trace of all processes. Notes tell which runs have none, and why.
void join_session_nodes(const std::filesystem::path& folder, Trace& trace);

}  // namespace ridgeline::trace
