// SPDX-License-Identifier: Apache-2.0
// libyaml counts characters, not bytes, and does not count a byte order mark; ByteOffsets turns its marks into offsets.
#include "config/yaml_events.hpp"

#include <yaml.h>

#include <algorithm>
#include <map>

namespace ridgeline::config {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kMaxDepth = 500;  ///< of nesting; deeper trees are no configuration, and comparing them recurses

class ByteOffsets {
 public:
  explicit ByteOffsets(std::string_view text) : size_(text.size()) {
    start_ = text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
    bool ascii = true;
    for (const char c : text.substr(start_)) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
    if (ascii) return;
    for (std::size_t i = start_; i < text.size(); ++i)
      if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) offsets_.push_back(i);
  }
  [[nodiscard]] std::size_t of(const yaml_mark_t& mark) const {
    if (offsets_.empty()) return std::min(size_, start_ + mark.index);
    return mark.index < offsets_.size() ? offsets_[mark.index] : size_;
  }

 private:
  std::size_t size_;
  std::size_t start_ = 0;
  std::vector<std::size_t> offsets_;  ///< byte offset of each character; empty when all are one byte
};

struct ParserGuard {
  yaml_parser_t parser{};
  bool ready = false;
  explicit ParserGuard(std::string_view text) : ready(yaml_parser_initialize(&parser) != 0) {
    // reinterpret_cast: libyaml's byte type is unsigned char.
    if (ready) yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~ParserGuard() {
    if (ready) yaml_parser_delete(&parser);
  }
  ParserGuard(const ParserGuard&) = delete;
  ParserGuard& operator=(const ParserGuard&) = delete;
};

struct EventGuard {
  yaml_event_t event{};
  EventGuard() = default;
  ~EventGuard() { yaml_event_delete(&event); }
  EventGuard(const EventGuard&) = delete;
  EventGuard& operator=(const EventGuard&) = delete;
};

std::string text_of(const unsigned char* text) {
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text));
}

/// Where the scalars proper begin: events include tag and anchor, tokens do not. Keyed by the scalar's end.
std::map<std::size_t, yaml_mark_t> scalar_starts(std::string_view text) {
  std::map<std::size_t, yaml_mark_t> starts;
  ParserGuard guard(text);
  if (!guard.ready) return starts;
  for (bool more = true; more;) {
    yaml_token_t token{};
    if (yaml_parser_scan(&guard.parser, &token) == 0) return starts;
    more = token.type != YAML_STREAM_END_TOKEN;
    if (token.type == YAML_SCALAR_TOKEN) starts.emplace(token.end_mark.index, token.start_mark);
    yaml_token_delete(&token);
  }
  return starts;
}

class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, std::string_view file_name) : text_(text), file_(file_name), offsets_(text) {}

  base::Result<YamlTree> build() {
    if (text_.substr(0, 2) == "\xFF\xFE" || text_.substr(0, 2) == "\xFE\xFF")
      return fail(ErrorCode::invalid_argument, "{}:1:1: the file is UTF-16", file_).hint("save it as UTF-8");
    ParserGuard guard(text_);
    if (!guard.ready) return fail(ErrorCode::out_of_memory, "{}: no memory to parse it", file_);
    yaml_parser_set_encoding(&guard.parser, YAML_ANY_ENCODING);
    for (bool more = true; more;) {
      EventGuard holder;
      if (yaml_parser_parse(&guard.parser, &holder.event) == 0) return malformed(guard.parser);
      more = holder.event.type != YAML_STREAM_END_EVENT;
      RL_TRY(take(holder.event));
    }
    if (has_properties_) set_contents();
    return std::move(tree_);
  }

 private:
  base::Fault malformed(const yaml_parser_t& parser) const {
    if (parser.error == YAML_MEMORY_ERROR) return fail(ErrorCode::out_of_memory, "{}: no memory to parse it", file_);
    std::size_t line = parser.problem_mark.line + 1;
    std::size_t column = parser.problem_mark.column + 1;
    if (parser.error == YAML_READER_ERROR) {
      const auto before = text_.substr(0, std::min(parser.problem_offset, text_.size()));
      line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
      column = before.size() - (before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1) + 1;
    }
    return fail(ErrorCode::invalid_argument, "{}:{}:{}: malformed YAML: {}{}{}", file_, line, column,
                parser.context != nullptr ? parser.context : "", parser.context != nullptr ? ", " : "",
                parser.problem != nullptr ? parser.problem : "unreadable")
        .hint("correct this place first");
  }

  base::Result<void> take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (!tree_.documents.empty())
          close_document(offsets_.of(event.start_mark), !event.data.document_start.implicit);
        anchors_.clear();
        tree_.documents.emplace_back();
        tree_.documents.back().end = text_.size();
        break;
      case YAML_DOCUMENT_END_EVENT:
        if (event.data.document_end.implicit == 0) close_document(offsets_.of(event.start_mark), true);
        break;
      case YAML_ALIAS_EVENT: {
        const auto name = text_of(event.data.alias.anchor);
        const auto found = anchors_.find(name);
        if (found == anchors_.end())
          return fail(ErrorCode::invalid_argument, "{}:{}:{}: alias *{} has no anchor &{} before it", file_,
                      event.start_mark.line + 1, event.start_mark.column + 1, name, name)
              .hint("define it first");
        const int index = add(event, YamlKind::alias, nullptr, nullptr);
        tree_.at(index).value = name;
        tree_.at(index).target = found->second;
        tree_.at(found->second).users.push_back(index);
        break;
      }
      case YAML_SCALAR_EVENT: {
        const auto& data = event.data.scalar;
        const int index = add(event, YamlKind::scalar, data.tag, data.anchor);
        auto& node = tree_.at(index);
        node.value.assign(reinterpret_cast<const char*>(data.value), data.length);
        if (node.begin == node.end) move_to_colon(node);
        node.style = data.style == YAML_SINGLE_QUOTED_SCALAR_STYLE   ? ScalarStyle::single_quoted
                     : data.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE ? ScalarStyle::double_quoted
                     : data.style == YAML_LITERAL_SCALAR_STYLE       ? ScalarStyle::literal
                     : data.style == YAML_FOLDED_SCALAR_STYLE        ? ScalarStyle::folded
                                                                     : ScalarStyle::plain;
        break;
      }
      case YAML_SEQUENCE_START_EVENT:
        return open(event, YamlKind::sequence, event.data.sequence_start.tag, event.data.sequence_start.anchor,
                    event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE);
      case YAML_MAPPING_START_EVENT:
        return open(event, YamlKind::mapping, event.data.mapping_start.tag, event.data.mapping_start.anchor,
                    event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: {
        auto& node = tree_.at(open_.back());
        if (node.flow) node.end = offsets_.of(event.end_mark);
        const auto end = node.end;
        open_.pop_back();
        if (!open_.empty()) tree_.at(open_.back()).end = end;
        break;
      }
      default: break;
    }
    return {};
  }

  base::Result<void> open(const yaml_event_t& event, YamlKind kind, const unsigned char* tag,
                          const unsigned char* anchor, bool flow) {
    if (open_.size() >= kMaxDepth)
      return fail(ErrorCode::invalid_argument, "{}:{}:{}: nested deeper than {} levels", file_,
                  event.start_mark.line + 1, event.start_mark.column + 1, kMaxDepth)
          .hint("flatten it");
    const int index = add(event, kind, tag, anchor);
    tree_.at(index).flow = flow;
    open_.push_back(index);
    return {};
  }

  int add(const yaml_event_t& event, YamlKind kind, const unsigned char* tag, const unsigned char* anchor) {
    const int index = static_cast<int>(tree_.nodes.size());
    auto& node = tree_.nodes.emplace_back();
    node.kind = kind;
    node.tag = text_of(tag);
    node.anchor = text_of(anchor);
    node.begin = node.content = offsets_.of(event.start_mark);
    node.end = offsets_.of(event.end_mark);
    node.line = static_cast<int>(event.start_mark.line) + 1;
    node.column = static_cast<int>(event.start_mark.column) + 1;
    if (!node.anchor.empty()) anchors_.insert_or_assign(node.anchor, index);
    has_properties_ = has_properties_ || !node.anchor.empty() || !node.tag.empty();
    if (open_.empty()) {
      if (!tree_.documents.empty()) tree_.documents.back().root = index;
    } else {
      node.parent = open_.back();
      auto& parent = tree_.at(open_.back());
      parent.children.push_back(index);
      parent.end = node.end;
    }
    return index;
  }

  /// libyaml places a flow mapping's empty value at the comma or brace behind it; text belongs behind the colon.
  void move_to_colon(YamlNode& node) const {
    auto at = node.end;
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
    if (at == 0 || text_[at - 1] != ':') return;
    node.column -= static_cast<int>(node.end - at);
    node.begin = node.content = node.end = at;
  }

  void close_document(std::size_t at, bool marked) {
    auto& document = tree_.documents.back();
    if (document.closed) return;
    document.end = at;
    document.closed = marked;
  }

  void set_contents() {
    const auto starts = scalar_starts(text_);
    std::map<std::size_t, const yaml_mark_t*> by_end;
    yaml_mark_t mark{};
    for (const auto& [end, start] : starts) {
      mark.index = end;
      by_end.emplace(offsets_.of(mark), &start);
    }
    for (auto& node : tree_.nodes) {
      if (node.kind != YamlKind::scalar || (node.tag.empty() && node.anchor.empty())) continue;
      node.content = node.end;  // properties without content: the value is empty
      const auto found = by_end.find(node.end);
      if (found == by_end.end() || offsets_.of(*found->second) < node.begin) continue;
      node.content = offsets_.of(*found->second);
      node.line = static_cast<int>(found->second->line) + 1;
    }
  }

  std::string_view text_;
  std::string_view file_;
  ByteOffsets offsets_;
  YamlTree tree_;
  std::vector<int> open_;
  std::map<std::string, int> anchors_;
  bool has_properties_ = false;
};

}  // namespace

base::Result<YamlTree> build_tree(std::string_view text, std::string_view file_name) {
  return TreeBuilder(text, file_name).build();
}

}  // namespace ridgeline::config
