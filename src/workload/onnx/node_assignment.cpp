// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/node_assignment.hpp"

#include <algorithm>
#include <set>

#include "base/file.hpp"
#include "base/json.hpp"
#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {

base::Result<Assignment> node_assignment(const OrtLibrary& library, const OrtSession* session) {
  if (library.api_version() < kFirstApiThatTellsNodes)
    return base::fail(base::ErrorCode::unsupported, "ONNX Runtime 1.{} does not report where nodes run",
                      library.api_version());
  const auto& api = library.api();
  const OrtEpAssignedSubgraph* const* subgraphs = nullptr;
  std::size_t count = 0;
  RL_TRY(check_ort(api, api.Session_GetEpGraphAssignmentInfo(session, &subgraphs, &count)));
  Assignment found;
  for (std::size_t at = 0; at < count; ++at) {
    const char* owner = nullptr;
    RL_TRY(check_ort(api, api.EpAssignedSubgraph_GetEpName(subgraphs[at], &owner)));
    ++found.parts[owner];
    const OrtEpAssignedNode* const* nodes = nullptr;
    std::size_t node_count = 0;
    RL_TRY(check_ort(api, api.EpAssignedSubgraph_GetNodes(subgraphs[at], &nodes, &node_count)));
    for (std::size_t node = 0; node < node_count; ++node) {
      const char* name = nullptr;
      const char* op_type = nullptr;
      RL_TRY(check_ort(api, api.EpAssignedNode_GetName(nodes[node], &name)));
      RL_TRY(check_ort(api, api.EpAssignedNode_GetOperatorType(nodes[node], &op_type)));
      found.nodes.push_back({name, op_type, owner});
    }
  }
  return found;
}

base::Result<Assignment> read_profile(const std::filesystem::path& profile) {
  RL_TRY_ASSIGN(const auto text, base::read_file(profile));
  RL_TRY_ASSIGN(const auto events, base::parse_json(text, profile.string()));
  Assignment found;
  std::set<std::string> seen;
  for (const auto& event : events) {
    if (!event.is_object()) continue;
    const auto args = event.value("args", base::Json::object());
    if (!args.is_object() || !args.contains("provider")) continue;
    const auto name = event.value("name", "");
    if (seen.insert(name).second) found.nodes.push_back({name, args.value("op_name", ""), args.value("provider", "")});
  }
  return found;
}

std::map<std::string, std::int64_t> count_by_provider(const Assignment& assignment) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& node : assignment.nodes) ++counts[node.provider];
  return counts;
}

std::vector<AssignedNode> nodes_beside(const Assignment& assignment, std::string_view provider) {
  auto nodes = assignment.nodes;
  std::erase_if(nodes, [&](const auto& node) { return node.provider == provider; });
  return nodes;
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
