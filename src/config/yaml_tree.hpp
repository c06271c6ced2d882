// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::config {

enum class YamlKind { scalar, alias, sequence, mapping };
enum class ScalarStyle { plain, single_quoted, double_quoted, literal, folded };

/// One node of a YAML file, with the bytes that it occupies. Nodes refer to each other by index into YamlTree::nodes.
struct YamlNode {
  YamlKind kind = YamlKind::scalar;
  std::string value;   ///< a scalar's text, an alias's name
  std::string tag;     ///< resolved ("tag:yaml.org,2002:int", "!env"), "" when none is written
  std::string anchor;  ///< without "&"
  ScalarStyle style = ScalarStyle::plain;
  bool flow = false;        ///< collections: {...} or [...]
  std::size_t begin = 0;    ///< byte offset of the node, tag and anchor included
  std::size_t content = 0;  ///< byte offset behind tag and anchor
  std::size_t end = 0;      ///< one past the node's last byte; a block collection ends with its last child
  int line = 0;             ///< 1-based, of `content`
  int column = 0;           ///< 1-based, in characters, of `begin`
  int parent = -1;
  std::vector<int> children;  ///< items; keys and values in turn for a mapping
  int target = -1;            ///< alias: the anchored node
  std::vector<int> users;     ///< aliases of this node
};

struct YamlDocument {
  int root = -1;
  std::size_t end = 0;  ///< byte offset of its "..." or of the next "---", else of the end of the file
  bool closed = false;  ///< followed by "..." or "---"
};

/// The file as written: aliases and merge keys are not expanded, comments are not kept (they are between the nodes).
struct YamlTree {
  std::vector<YamlNode> nodes;
  std::vector<YamlDocument> documents;

  [[nodiscard]] const YamlNode& at(int index) const { return nodes[static_cast<std::size_t>(index)]; }
  [[nodiscard]] YamlNode& at(int index) { return nodes[static_cast<std::size_t>(index)]; }
  /// The node itself, or what an alias stands for.
  [[nodiscard]] int resolved(int index) const { return at(index).kind == YamlKind::alias ? at(index).target : index; }
  /// The value's index of a scalar key directly in the mapping, or -1.
  [[nodiscard]] int find(int mapping, std::string_view key) const;
  /// The values' indexes of every scalar key of this name, at any depth.
  [[nodiscard]] std::vector<int> places_of(std::string_view key) const;
  /// "a.b.0.c"; documents behind the first are named "#2:a.b".
  [[nodiscard]] std::string path(int index) const;
};

/// True for ~, null and nothing at all, unquoted.
[[nodiscard]] bool is_null(const YamlNode& node);

/// True when a YAML 1.1 or 1.2 reader would take the unquoted text as something else than text.
[[nodiscard]] bool reads_as_non_text(std::string_view plain);

/// Errors (invalid_argument, "file:line:column: ..."): malformed YAML, not UTF-8, a key twice in one mapping, an alias
/// without its anchor.
[[nodiscard]] base::Result<YamlTree> parse_yaml(std::string_view text, std::string_view file_name);

/// Same content: kinds, texts, tags, anchors, order; quoting counts only as far as it tells text from other types.
/// `match`, when given, receives for every node of `a` the index in `b`.
[[nodiscard]] bool same_content(const YamlTree& a, const YamlTree& b, std::vector<int>* match = nullptr);

}  // namespace ridgeline::config
