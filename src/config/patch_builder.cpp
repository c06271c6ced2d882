// SPDX-License-Identifier: Apache-2.0
#include "config/patch_builder.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "config/setting_text.hpp"

namespace ridgeline::config {
namespace {

using base::ErrorCode;
using base::fail;

bool is_blank(std::string_view text) { return base::trim(text).empty(); }

bool is_block_scalar(const YamlNode& node) {
  return node.kind == YamlKind::scalar && (node.style == ScalarStyle::literal || node.style == ScalarStyle::folded);
}

/// Spaces between a mapping's keys and those of a mapping inside it, where the file shows it first.
std::size_t indent_of(const YamlTree& tree) {
  for (const auto& node : tree.nodes) {
    if (node.kind != YamlKind::mapping || node.flow || node.parent < 0 || node.children.empty()) continue;
    const auto& parent = tree.at(node.parent);
    if (parent.kind != YamlKind::mapping || parent.flow) continue;
    const int step = tree.at(node.children.front()).column - tree.at(parent.children.front()).column;
    if (step > 0) return static_cast<std::size_t>(step);
  }
  return 2;
}

}  // namespace

PatchBuilder::PatchBuilder(std::string_view text, const YamlTree& tree, std::string_view file_name,
                           std::string provenance)
    : text_(text),
      tree_(tree),
      file_(file_name),
      provenance_(std::move(provenance)),
      indent_(indent_of(tree)),
      expected_(tree) {
  std::replace_if(
      provenance_.begin(), provenance_.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

std::string PatchBuilder::comment() const { return provenance_.empty() ? "" : "  # " + provenance_; }

bool PatchBuilder::inside_flow(int node) const {
  for (; node >= 0; node = tree_.at(node).parent)
    if (tree_.at(node).flow) return true;
  return false;
}

void PatchBuilder::put_comment_behind(std::size_t offset) {
  if (provenance_.empty()) return;
  const auto end = line_end(text_, offset);
  const auto rest = text_.substr(offset, end - offset);
  if (is_blank(rest)) {
    edits_.push_back({offset, offset, comment()});
    return;
  }
  // A comment of ours from an earlier patch would be stale now.
  const auto hash = rest.find('#');
  if (hash == std::string_view::npos || !is_blank(rest.substr(0, hash))) return;
  const auto first_word = [](std::string_view line) { return base::split(base::trim(line), ' ').front(); };
  if (first_word(rest.substr(hash + 1)) == first_word(provenance_))
    edits_.push_back({offset + hash, end, "# " + provenance_});
}

base::Result<void> PatchBuilder::change(int value, const schema::ParamDef& param, const schema::Value& wanted) {
  const auto& node = tree_.at(value);
  const auto& old = tree_.at(tree_.resolved(value));
  const bool flow = inside_flow(node.parent);
  const bool was_null = is_null(node);
  const auto spelled = spell_like(param, wanted, was_null ? "" : old.value);
  const auto quoted = quote(spelled, node.kind == YamlKind::alias ? ScalarStyle::plain : node.style,
                            must_be_text(param, spelled), flow);
  if (node.kind == YamlKind::alias) {
    edits_.push_back({node.begin, node.end, quoted.source});
  } else if (was_null && node.content == node.end) {
    const bool has_colon = node.end > node.begin || (node.begin > 0 && text_[node.begin - 1] == ':');
    if (!has_colon)
      return fail(ErrorCode::unsupported, "{}:{}:{}: {} has no colon behind it", file_, node.line, node.column,
                  param.key)
          .hint("write \"{}: {}\"", param.key, quoted.source);
    edits_.push_back({node.end, node.end, " " + quoted.source});
  } else if (is_block_scalar(node)) {
    // The header's own comment stays; the breaks behind the last line belong to the rest of the file.
    const auto header_end = line_end(text_, node.content);
    const auto indicators = text_.find_first_not_of("|>+-0123456789", node.content);
    const auto header_rest =
        text_.substr(std::min(indicators, header_end), header_end - std::min(indicators, header_end));
    auto body_end = node.end;
    while (body_end > header_end && std::string_view(" \t\r\n").find(text_[body_end - 1]) != std::string_view::npos)
      --body_end;
    edits_.push_back({node.content, body_end, quoted.source + std::string(header_rest)});
  } else {
    edits_.push_back({node.content, node.end, quoted.source});
  }
  if (!flow && !is_block_scalar(node)) put_comment_behind(node.end);

  auto& expected = expected_.at(value);
  expected.kind = YamlKind::scalar;
  expected.value = spelled;
  expected.style = quoted.style;
  written_.push_back({param.key, "", 0, quoted.source});
  written_nodes_.push_back(value);
  return {};
}

void PatchBuilder::add(const SettingPlace& place, const schema::ParamDef& param, const schema::Value& wanted) {
  const bool sections = !place.sections.empty();
  auto found = std::find_if(insertions_.begin(), insertions_.end(), [&](const Insertion& other) {
    return other.home == place.home && other.document == place.document && other.sections == sections;
  });
  if (found == insertions_.end())
    found = insertions_.insert(found, Insertion{place.home, place.document, sections, {}});
  auto* entries = &found->entries;
  for (const auto& section : place.sections) {
    auto entry =
        std::find_if(entries->begin(), entries->end(), [&](const NewEntry& other) { return other.name == section; });
    if (entry == entries->end()) entry = entries->insert(entry, NewEntry{section, "", {}, false, {}});
    entries = &entry->children;
  }
  entries->push_back(NewEntry{place.name,
                              param.key,
                              wanted,
                              param.type == schema::ParamType::text || param.type == schema::ParamType::choice,
                              {},
                              param});
}

base::Result<std::string> PatchBuilder::finish() {
  for (const auto& insertion : insertions_) insert(insertion);
  auto out = apply_edits(text_, edits_);
  const auto after = parse_yaml(out, file_);
  std::vector<int> match;
  if (!after || !same_content(expected_, *after, &match))
    return fail(ErrorCode::internal,
                "{}: cannot make this change without touching something else ({}): nothing was written", file_,
                after ? "the rest of the file would read differently" : after.error().message)
        .hint("change it by hand");
  const auto lines = base::split(out, '\n');
  for (std::size_t i = 0; i < written_.size(); ++i) {
    const int node = match[static_cast<std::size_t>(written_nodes_[i])];
    written_[i].path = after->path(node);
    written_[i].line = after->at(node).line;
    const auto line = static_cast<std::size_t>(written_[i].line) - 1;
    written_[i].commented =
        !provenance_.empty() && line < lines.size() && lines[line].find("# " + provenance_) != std::string::npos;
  }
  return out;
}

}  // namespace ridgeline::config
