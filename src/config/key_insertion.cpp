// SPDX-License-Identifier: Apache-2.0
// The part of PatchBuilder that adds keys: in the file's own indentation, newline and block, flow or JSON style.
#include <algorithm>

#include "config/patch_builder.hpp"
#include "config/setting_text.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::config {
namespace {

ScalarText name_text(std::string_view name, bool quoted, bool flow) {
  return quote(name, quoted ? ScalarStyle::double_quoted : ScalarStyle::plain, true, flow);
}

}  // namespace

bool PatchBuilder::keys_are_quoted(int mapping) const {
  const auto& children = tree_.at(mapping).children;
  for (std::size_t i = 0; i < children.size(); i += 2)
    if (tree_.at(children[i]).style != ScalarStyle::double_quoted) return false;
  return !children.empty();
}

std::size_t PatchBuilder::column_of_keys(int mapping) const {
  const auto& key = tree_.at(tree_.at(mapping).children.front());
  const auto column = static_cast<std::size_t>(key.column) - 1;
  // "? key": the question mark is where the next key goes.
  const auto before = text_.substr(line_begin(text_, key.begin), key.begin - line_begin(text_, key.begin));
  const auto mark = before.find_last_not_of(' ');
  const bool marked = mark != std::string_view::npos && before[mark] == '?' && mark + 1 < before.size() &&
                      (mark == 0 || before[mark - 1] == ' ');
  return marked ? column - (before.size() - mark) : column;
}

/// The index of the pair behind which new ones go: the last parameter for single keys, the last pair for sections.
std::size_t PatchBuilder::pair_after(const Insertion& insertion) const {
  const auto& children = tree_.at(insertion.home).children;
  const auto last = children.size() / 2 - 1;
  if (insertion.sections) return last;
  for (std::size_t i = last + 1; i-- > 0;)
    if (schema::find_param(tree_.at(children[2 * i]).value) != nullptr &&
        tree_.at(children[2 * i + 1]).kind != YamlKind::mapping)
      return i;
  return last;
}

std::string PatchBuilder::block_lines(const std::vector<NewEntry>& entries, std::size_t column,
                                      std::string_view newline) const {
  std::string out;
  for (const auto& entry : entries) {
    out += std::string(column, ' ') + name_text(entry.name, false, false).source + ":";
    if (entry.key.empty())
      out += std::string(newline) + block_lines(entry.children, column + indent_, newline);
    else
      out += " " + quote(spell_like(entry.param, entry.value, ""), ScalarStyle::plain, entry.as_text, false).source +
             comment() + std::string(newline);
  }
  return out;
}

std::string PatchBuilder::flow_text(const std::vector<NewEntry>& entries, bool quoted) const {
  std::string out;
  for (const auto& entry : entries) {
    out += (out.empty() ? "" : ", ") + name_text(entry.name, quoted, true).source + ": ";
    const auto style = quoted && entry.as_text ? ScalarStyle::double_quoted : ScalarStyle::plain;
    out += entry.key.empty() ? "{" + flow_text(entry.children, quoted) + "}"
                             : quote(spell_like(entry.param, entry.value, ""), style, entry.as_text, true).source;
  }
  return out;
}

void PatchBuilder::expect_pairs(int mapping, std::size_t position, const std::vector<NewEntry>& entries, bool quoted,
                                bool flow) {
  const auto put = [&](YamlNode node, std::size_t at) {
    node.parent = mapping;
    expected_.nodes.push_back(std::move(node));
    const int index = static_cast<int>(expected_.nodes.size()) - 1;
    auto& children = expected_.at(mapping).children;
    children.insert(children.begin() + static_cast<std::ptrdiff_t>(at), index);
    return index;
  };
  for (const auto& entry : entries) {
    YamlNode name;
    name.value = entry.name;
    name.style = name_text(entry.name, quoted, flow).style;
    put(std::move(name), position);
    YamlNode value;
    if (entry.key.empty()) {
      value.kind = YamlKind::mapping;
      const int index = put(std::move(value), position + 1);
      expect_pairs(index, 0, entry.children, quoted, flow);
    } else {
      value.value = spell_like(entry.param, entry.value, "");
      const auto style = quoted && entry.as_text ? ScalarStyle::double_quoted : ScalarStyle::plain;
      const auto written = quote(value.value, style, entry.as_text, flow);
      value.style = written.style;
      written_nodes_.push_back(put(std::move(value), position + 1));
      written_.push_back({entry.key, "", 0, written.source});
    }
    position += 2;
  }
}

void PatchBuilder::insert(const Insertion& insertion) {
  if (insertion.home < 0) return insert_in_document(insertion);
  const auto& home = tree_.at(insertion.home);
  if (home.kind != YamlKind::mapping) return insert_in_null(insertion);
  if (home.flow) return insert_in_flow(insertion);
  insert_in_block(insertion);
}

/// `offset` is a line's end (then the lines go behind its break) or, with after_line false, a line's beginning.
void PatchBuilder::insert_lines(std::size_t offset, const std::vector<NewEntry>& entries, std::size_t column,
                                bool after_line) {
  const auto newline = newline_near(text_, offset);
  auto lines = block_lines(entries, column, newline);
  if (after_line) lines = std::string(newline) + lines.substr(0, lines.size() - newline.size());
  edits_.push_back({offset, offset, std::move(lines)});
}

void PatchBuilder::insert_in_block(const Insertion& insertion) {
  const auto& home = tree_.at(insertion.home);
  const auto pair = pair_after(insertion);
  const auto column = column_of_keys(insertion.home);
  int last = home.children[2 * pair + 1];
  while (!tree_.at(last).flow && !tree_.at(last).children.empty()) last = tree_.at(last).children.back();
  const auto& node = tree_.at(last);
  const bool block_scalar = node.style == ScalarStyle::literal || node.style == ScalarStyle::folded;
  if (block_scalar && node.end == text_.size() && line_begin(text_, node.end) != node.end) {
    // A newline behind a block scalar that ends the file would become part of its text: go in front of its key.
    expect_pairs(insertion.home, 2 * pair, insertion.entries, false, false);
    insert_lines(line_begin(text_, tree_.at(home.children[2 * pair]).begin), insertion.entries, column, false);
    return;
  }
  expect_pairs(insertion.home, 2 * pair + 2, insertion.entries, false, false);
  if (home.parent < 0 && insertion.sections) {
    const auto& document = tree_.documents[static_cast<std::size_t>(insertion.document)];
    const auto end = document.closed ? line_begin(text_, document.end) : text_.size();
    const bool after_line = end > 0 && line_begin(text_, end) != end;
    // Keep the file's habit of a blank line between its sections.
    const auto& key = tree_.at(home.children[home.children.size() - 2]);
    const auto key_line = line_begin(text_, key.begin);
    const auto above =
        key_line > 0 ? text_.substr(line_begin(text_, key_line - 1), key_line - line_begin(text_, key_line - 1)) : "x";
    const bool spaced = !block_scalar && above.find_first_not_of(" \t\r\n") == std::string_view::npos;
    if (spaced) edits_.push_back({end, end, std::string(newline_near(text_, end))});
    insert_lines(end, insertion.entries, column, after_line);
    return;
  }
  if (block_scalar)
    insert_lines(node.end, insertion.entries, column, line_begin(text_, node.end) != node.end);
  else
    insert_lines(line_end(text_, node.end), insertion.entries, column, true);
}

void PatchBuilder::insert_in_flow(const Insertion& insertion) {
  const auto& home = tree_.at(insertion.home);
  const bool quoted = keys_are_quoted(insertion.home);
  if (home.children.empty()) {
    edits_.push_back({home.end - 1, home.end - 1, flow_text(insertion.entries, quoted)});
    expect_pairs(insertion.home, 0, insertion.entries, quoted, true);
    return;
  }
  const auto pair = pair_after(insertion);
  const auto& key = tree_.at(home.children[2 * pair]);
  const auto behind = std::max(key.end, tree_.at(home.children[2 * pair + 1]).end);
  expect_pairs(insertion.home, 2 * pair + 2, insertion.entries, quoted, true);
  const auto key_line = line_begin(text_, key.begin);
  const auto indent = text_.substr(key_line, key.begin - key_line);
  const auto end = line_end(text_, behind);
  auto rest = text_.substr(behind, end - behind);
  const auto comma = rest.find_first_not_of(" \t");
  const bool has_comma = comma != std::string_view::npos && rest[comma] == ',';
  if (has_comma) rest.remove_prefix(comma + 1);
  const auto first = rest.find_first_not_of(" \t");
  const bool own_line = indent.find_first_not_of(" \t") == std::string_view::npos && end < text_.size() &&
                        (first == std::string_view::npos || rest[first] == '#');
  if (!own_line) {
    edits_.push_back({behind, behind, ", " + flow_text(insertion.entries, quoted)});
    return;
  }
  if (!has_comma) edits_.push_back({behind, behind, ","});
  std::string lines;
  for (std::size_t i = 0; i < insertion.entries.size(); ++i) {
    const bool last = i + 1 == insertion.entries.size();
    lines += std::string(newline_near(text_, end)) + std::string(indent) + flow_text({insertion.entries[i]}, quoted) +
             (!last || has_comma ? "," : "");
  }
  edits_.push_back({end, end, std::move(lines)});
}

void PatchBuilder::insert_in_null(const Insertion& insertion) {
  const auto& home = tree_.at(insertion.home);
  const auto& parent = tree_.at(home.parent);
  auto& expected = expected_.at(insertion.home);
  expected.kind = YamlKind::mapping;
  expected.value.clear();
  if (home.content < home.end || inside_flow(home.parent) || parent.kind != YamlKind::mapping) {
    const bool written = home.content < home.end;
    edits_.push_back({home.content, home.end, (written ? "{" : " {") + flow_text(insertion.entries, false) + "}"});
    expect_pairs(insertion.home, 0, insertion.entries, false, true);
    return;
  }
  expect_pairs(insertion.home, 0, insertion.entries, false, false);
  insert_lines(line_end(text_, home.end), insertion.entries, column_of_keys(home.parent) + indent_, true);
}

void PatchBuilder::insert_in_document(const Insertion& insertion) {
  YamlNode root;
  root.kind = YamlKind::mapping;
  expected_.nodes.push_back(std::move(root));
  const int index = static_cast<int>(expected_.nodes.size()) - 1;
  std::size_t end = text_.size();
  const auto number = static_cast<std::size_t>(insertion.document);
  if (number < tree_.documents.size()) {
    if (tree_.documents[number].closed) end = line_begin(text_, tree_.documents[number].end);
    expected_.documents[number].root = index;
  } else {
    expected_.documents.push_back({index, end, false});
  }
  expect_pairs(index, 0, insertion.entries, false, false);
  insert_lines(end, insertion.entries, 0, line_begin(text_, end) != end);
}

}  // namespace ridgeline::config
