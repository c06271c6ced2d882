// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/node_assignment.hpp"

#include <algorithm>

#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {

base::Result<std::vector<AssignedNode>> nodes_beside_graph(const OrtLibrary& library, const OrtSession* session,
                                                           const schema::ExecutionProvider& provider) {
  constexpr int kFirstApi = 24;
  if (library.api_version() < kFirstApi)
    return base::fail(base::ErrorCode::unsupported, "ONNX Runtime 1.{} does not report where nodes run",
                      library.api_version());
  const auto& api = library.api();
  const OrtEpAssignedSubgraph* const* subgraphs = nullptr;
  std::size_t count = 0;
  RL_TRY(check_ort(api, api.Session_GetEpGraphAssignmentInfo(session, &subgraphs, &count)));
  std::vector<AssignedNode> left;
  for (std::size_t at = 0; at < count; ++at) {
    const char* owner = nullptr;
    RL_TRY(check_ort(api, api.EpAssignedSubgraph_GetEpName(subgraphs[at], &owner)));
    if (owner == provider.library_name) continue;
    const OrtEpAssignedNode* const* nodes = nullptr;
    std::size_t node_count = 0;
    RL_TRY(check_ort(api, api.EpAssignedSubgraph_GetNodes(subgraphs[at], &nodes, &node_count)));
    for (std::size_t node = 0; node < node_count; ++node) {
      const char* name = nullptr;
      const char* op_type = nullptr;
      RL_TRY(check_ort(api, api.EpAssignedNode_GetName(nodes[node], &name)));
      RL_TRY(check_ort(api, api.EpAssignedNode_GetOperatorType(nodes[node], &op_type)));
      left.push_back({name, op_type, owner});
    }
  }
  return left;
}

std::string nodes_text(const std::vector<AssignedNode>& nodes, std::string_view where) {
  constexpr std::size_t kNamed = 3;
  std::string text = fmt::format("{} node{} {}: ", nodes.size(), nodes.size() == 1 ? " runs" : "s run", where);
  for (std::size_t at = 0; at < std::min(kNamed, nodes.size()); ++at)
    text += fmt::format("{}{} \"{}\"", at == 0 ? "" : ", ", nodes[at].op_type, nodes[at].name);
  if (nodes.size() > kNamed) text += fmt::format(" and {} more", nodes.size() - kNamed);
  return text;
}

}  // namespace ridgeline::workload
