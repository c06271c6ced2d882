// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/measurement.hpp"
#include "workload/onnx/ort_library.hpp"

struct OrtSession;

namespace ridgeline::workload {

/// A node of the optimized graph and who runs it.
struct AssignedNode {
  std::string name;
  std::string op_type;
  std::string provider;
};

struct Assignment {
  std::vector<AssignedNode> nodes;
  std::map<std::string, std::int64_t> parts;  ///< of the graph, by who took them; empty: unknown
};

/// From this API on a session tells where its nodes run (SessionExtras::record_assignment).
inline constexpr int kFirstApiThatTellsNodes = 24;

/// Where the nodes of such a session run. Errors: unsupported before that API.
[[nodiscard]] base::Result<Assignment> node_assignment(const OrtLibrary& library, const OrtSession* session);

/// The same from the profile of a session (SessionExtras::profile) that ran once. What a provider has fused is one
/// node.
[[nodiscard]] base::Result<Assignment> read_profile(const std::filesystem::path& profile);

/// As RanOn::nodes.
[[nodiscard]] std::map<std::string, std::int64_t> count_by_provider(const Assignment& assignment);

/// Those that others than `provider` run, which its CUDA graph cannot hold.
[[nodiscard]] std::vector<AssignedNode> nodes_beside(const Assignment& assignment, std::string_view provider);

/// "7 nodes run on the CPU: Shape \"/patch/Shape\", Gather \"/patch/Gather\" and 5 more"; `where`: "on the CPU".
[[nodiscard]] std::string nodes_text(const std::vector<AssignedNode>& nodes, std::string_view where);

}  // namespace ridgeline::workload
