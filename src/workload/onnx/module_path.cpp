// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/module_path.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <google/protobuf/unknown_field_set.h>

#include "base/text.hpp"
#include "workload/onnx/python_literal.hpp"

namespace ridgeline::workload {
namespace {

constexpr std::string_view kNamePrefix = "node_";  // of PyTorch's newer exporter, before an operation's name

constexpr int kMetadataField = 9;  // NodeProto.metadata_props, which releases of ONNX before 1.16 do not know by name

std::map<std::string, std::string> metadata_of(const onnx::NodeProto& node) {
  std::map<std::string, std::string> out;
  const auto add = [&](const std::string& bytes) {
    if (onnx::StringStringEntryProto entry; entry.ParseFromString(bytes)) out[entry.key()] = entry.value();
  };
  const auto* reflection = node.GetReflection();
  if (const auto* field = node.GetDescriptor()->FindFieldByNumber(kMetadataField); field != nullptr)
    for (int i = 0; i < reflection->FieldSize(node, field); ++i)
      add(reflection->GetRepeatedMessage(node, field, i).SerializeAsString());
  const auto& unknown = reflection->GetUnknownFields(node);
  for (int i = 0; i < unknown.field_count(); ++i)
    if (const auto& field = unknown.field(i);
        field.number() == kMetadataField && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      add(field.length_delimited());
  return out;
}

/// Full names of the modules around a node, the outermost first: "", "model", "model.encoder". The last entry of either
/// form is the operation itself.
std::vector<std::string> module_names(const onnx::NodeProto& node) {
  std::vector<std::string> names;
  auto metadata = metadata_of(node);
  if (const auto scopes = parse_python_literal(metadata["pkg.torch.onnx.name_scopes"]); scopes && scopes->is_array()) {
    for (const auto& scope : *scopes)
      if (scope.is_string()) names.push_back(scope.get<std::string>());
  } else {  // ": Net/encoder: Encoder/encoder.fc: torch.nn.modules.linear.Linear/linear: aten.linear.default"
    for (const auto& entry : base::split(metadata["namespace"], '/'))
      if (const auto end = entry.find(": "); end != std::string::npos) names.push_back(entry.substr(0, end));
  }
  if (!names.empty()) names.pop_back();
  return names;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string joined(const std::vector<std::string>& parts, std::size_t from, std::size_t to, char separator) {
  std::string out;
  for (std::size_t i = from; i < to; ++i) out += (i > from ? std::string(1, separator) : std::string()) + parts[i];
  return out;
}

std::string without_slashes(std::string text) {
  std::replace(text.begin(), text.end(), '/', '.');
  return text;
}

}  // namespace

std::string module_path(const onnx::NodeProto& node) {
  if (node.name().find('/') != std::string::npos) return node.name();
  const auto names = module_names(node);
  if (names.empty()) return node.name();
  std::string path;
  std::string above;
  std::string part;  // of the module above, as it is shown
  for (const auto& name : names) {
    if (name.empty() || name == above) continue;
    const bool is_within = !above.empty() && name.rfind(above + ".", 0) == 0;
    auto own = is_within ? name.substr(above.size() + 1) : name;
    // An item of a list or a Sequential is called by it, as in the paths of the older exporter: "layers.0".
    if (is_within && is_number(own) && !is_number(part)) own = part + "." + own;
    path += "/" + without_slashes(own);
    part = std::move(own);
    above = name;
  }
  auto leaf = node.name();
  if (leaf.rfind(kNamePrefix, 0) == 0 && leaf.size() > kNamePrefix.size()) leaf.erase(0, kNamePrefix.size());
  return path + "/" + leaf;
}

std::vector<std::string> path_parts(const std::string& path) {
  std::vector<std::string> parts;
  for (auto& part : base::split(path, '/'))
    if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

std::string joint_path(const std::vector<std::string>& paths, std::size_t main) {
  if (paths.size() == 1) return paths.front();
  std::vector<std::vector<std::string>> all;
  for (const auto& path : paths) all.push_back(path_parts(path));
  std::size_t common = all.front().empty() ? 0 : all.front().size() - 1;
  for (const auto& parts : all) {
    std::size_t same = 0;
    while (same < common && same + 1 < parts.size() && parts[same] == all.front()[same]) ++same;
    common = std::min(common, same);
  }
  auto where = std::vector<std::string>(all.front().begin(), all.front().begin() + static_cast<std::ptrdiff_t>(common));
  if (common == 0 && all[main].size() > 1) where.assign(all[main].begin(), all[main].end() - 1);
  std::string leaf;
  for (const auto& parts : all) {
    const bool is_below = parts.size() > where.size() && std::equal(where.begin(), where.end(), parts.begin());
    leaf += (leaf.empty() ? "" : " + ") + joined(parts, is_below ? where.size() : 0, parts.size(), '.');
  }
  const bool is_path = paths[main].find('/') != std::string::npos;
  return (is_path ? "/" : "") + (where.empty() ? leaf : joined(where, 0, where.size(), '/') + "/" + leaf);
}

}  // namespace ridgeline::workload
