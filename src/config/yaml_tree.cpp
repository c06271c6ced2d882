// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_tree.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

#include "config/yaml_events.hpp"

namespace ridgeline::config {
namespace {

/// A key's identity: 1 and "1" are two keys, a and "a" are one.
bool same_key(const YamlNode& a, const YamlNode& b) {
  if (a.kind != YamlKind::scalar || b.kind != YamlKind::scalar || a.value != b.value) return false;
  const auto is_text = [](const YamlNode& node) {
    return node.style != ScalarStyle::plain || !reads_as_non_text(node.value);
  };
  return is_text(a) == is_text(b);
}

bool has_duplicate(const YamlTree& tree, const YamlNode& mapping, const YamlNode*& first, const YamlNode*& second) {
  std::vector<const YamlNode*> keys;
  for (std::size_t i = 0; i + 1 < mapping.children.size(); i += 2) {
    const auto& key = tree.at(mapping.children[i]);
    // Several merge keys in one mapping are read by common loaders and never hold a setting.
    if (key.kind == YamlKind::scalar && key.value != "<<") keys.push_back(&key);
  }
  std::stable_sort(keys.begin(), keys.end(), [](const auto* a, const auto* b) { return a->value < b->value; });
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t j = i + 1; j < keys.size() && keys[j]->value == keys[i]->value; ++j)
      if (same_key(*keys[i], *keys[j])) {
        first = keys[i];
        second = keys[j];
        return true;
      }
  return false;
}

bool same_node(const YamlTree& a, int left, const YamlTree& b, int right, std::vector<int>* match) {
  const auto& x = a.at(left);
  const auto& y = b.at(right);
  if (x.kind != y.kind || x.value != y.value || x.tag != y.tag || x.anchor != y.anchor ||
      x.children.size() != y.children.size())
    return false;
  if (x.kind == YamlKind::scalar && (x.style == ScalarStyle::plain) != (y.style == ScalarStyle::plain)) return false;
  if (match != nullptr) (*match)[static_cast<std::size_t>(left)] = right;
  for (std::size_t i = 0; i < x.children.size(); ++i)
    if (!same_node(a, x.children[i], b, y.children[i], match)) return false;
  return true;
}

}  // namespace

std::vector<int> YamlTree::places_of(std::string_view key) const {
  std::vector<int> out;
  for (const auto& node : nodes) {
    if (node.kind != YamlKind::mapping) continue;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2)
      if (at(node.children[i]).kind == YamlKind::scalar && at(node.children[i]).value == key)
        out.push_back(node.children[i + 1]);
  }
  return out;
}

int YamlTree::find(int mapping, std::string_view key) const {
  const auto& node = at(mapping);
  if (node.kind != YamlKind::mapping) return -1;
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const auto& name = at(node.children[i]);
    if (name.kind == YamlKind::scalar && name.value == key) return node.children[i + 1];
  }
  return -1;
}

std::string YamlTree::path(int index) const {
  std::string text;
  for (int child = index; at(child).parent >= 0; child = at(child).parent) {
    const auto& parent = at(at(child).parent);
    const auto place = std::find(parent.children.begin(), parent.children.end(), child) - parent.children.begin();
    std::string segment;
    if (parent.kind == YamlKind::sequence) {
      segment = std::to_string(place);
    } else {
      const auto& key = at(parent.children[static_cast<std::size_t>(place % 2 == 1 ? place - 1 : place)]);
      segment = key.kind == YamlKind::scalar ? key.value : "?";
    }
    text = text.empty() ? segment : segment + "." + text;
  }
  int root = index;
  while (at(root).parent >= 0) root = at(root).parent;
  for (std::size_t i = 1; i < documents.size(); ++i)
    if (documents[i].root == root) return fmt::format("#{}:{}", i + 1, text);
  return text;
}

bool is_null(const YamlNode& node) {
  if (node.kind != YamlKind::scalar || node.style != ScalarStyle::plain) return false;
  const auto& text = node.value;
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

bool reads_as_non_text(std::string_view plain) {
  if (plain.empty() || plain == "~" || plain == "=" || plain == "<<") return true;
  std::string lower(plain);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const auto* word :
       {"null", "true", "false", "yes", "no", "on", "off", "y", "n", ".inf", "-.inf", "+.inf", ".nan"})
    if (lower == word) return true;
  const auto first = static_cast<unsigned char>(plain.front());
  if (std::isdigit(first) == 0 && first != '-' && first != '+' && first != '.') return false;
  if (plain.size() > 64) return false;  // longer than any number, and std::regex recurses per character
  // Integers, floats, base 60 and dates of YAML 1.1, and the octal form of 1.2.
  static const std::regex number(
      "[-+]?(0x[0-9a-f_]+|0o[0-7]+|0b[01_]+|[0-9][0-9_]*(:[0-5]?[0-9])*(\\.[0-9_]*)?(e[-+]?[0-9]+)?|\\.[0-9_]+(e[-+]?["
      "0-9]+)?)"
      "|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*");
  return std::regex_match(lower, number);
}

bool same_content(const YamlTree& a, const YamlTree& b, std::vector<int>* match) {
  if (match != nullptr) match->assign(a.nodes.size(), -1);
  if (a.documents.size() != b.documents.size()) return false;
  for (std::size_t i = 0; i < a.documents.size(); ++i)
    if (!same_node(a, a.documents[i].root, b, b.documents[i].root, match)) return false;
  return true;
}

base::Result<YamlTree> parse_yaml(std::string_view text, std::string_view file_name) {
  RL_TRY_ASSIGN(auto tree, build_tree(text, file_name));
  for (const auto& node : tree.nodes) {
    const YamlNode* first = nullptr;
    const YamlNode* second = nullptr;
    if (node.kind == YamlKind::mapping && has_duplicate(tree, node, first, second))
      return base::fail(base::ErrorCode::invalid_argument, "{}:{}:{}: duplicate key \"{}\", already at line {}",
                        file_name, second->line, second->column, second->value, first->line)
          .hint("keep one of the two");
  }
  return tree;
}

}  // namespace ridgeline::config
