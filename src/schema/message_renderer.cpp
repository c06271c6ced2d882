// SPDX-License-Identifier: Apache-2.0
#include "schema/message_renderer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "schema/argument_text.hpp"
#include "schema/template_parts.hpp"

namespace ridgeline::schema {
namespace {

constexpr std::string_view kBetweenMessages = "join:; ";
constexpr std::string_view kMissing = "?";  // in a file that someone else wrote
constexpr std::string_view kHint = "hint";  ///< of a message: what it advises
constexpr std::string_view kLine = "line";  ///< of a message: text and advice

/// One message being filled in.
class Filling {
 public:
  Filling(const MessageRenderer& renderer, const MessageTemplate& row, const base::Json& arguments)
      : renderer_(renderer), row_(row), arguments_(arguments) {}

  std::string text(const std::vector<TemplatePart>& parts) const {
    std::string out;
    for (const auto& part : parts) out += text(part);
    return out;
  }

 private:
  std::string text(const TemplatePart& part) const {
    using Kind = TemplatePart::Kind;
    if (part.kind == Kind::literal) return part.text;
    const auto found = arguments_.find(part.text);
    const auto* value = found == arguments_.end() ? nullptr : &*found;
    switch (part.kind) {
      case Kind::asked: return text(part.branches[is_set(value) ? 0 : 1].parts);
      case Kind::plural: return text(part.branches[count(value) == 1 ? 0 : 1].parts);
      case Kind::choice:
        for (const auto& branch : part.branches)
          if (value != nullptr && *value == branch.word) return text(branch.parts);
        return {};
      default: return value != nullptr ? value_text(part, *value) : missing_text(part);
    }
  }

  ArgumentKind kind_of(const TemplatePart& part) const {
    const auto row = std::find_if(row_.arguments.begin(), row_.arguments.end(),
                                  [&](const auto& argument) { return argument.name == part.text; });
    return row == row_.arguments.end() ? ArgumentKind::text : row->kind;
  }

  /// Empty texts and messages of older records are absent.
  std::string missing_text(const TemplatePart& part) const {
    switch (kind_of(part)) {
      case ArgumentKind::text:
      case ArgumentKind::texts:
      case ArgumentKind::message:
      case ArgumentKind::messages: return {};
      default: return std::string(kMissing);
    }
  }

  static bool is_set(const base::Json* value) {
    if (value == nullptr || value->is_null()) return false;
    if (value->is_boolean()) return value->get<bool>();
    if (value->is_string()) return !value->get_ref<const std::string&>().empty();
    return !value->is_structured() || !value->empty();
  }

  static std::int64_t count(const base::Json* value) {
    if (value == nullptr) return 0;
    if (value->is_number()) return value->get<std::int64_t>();
    return static_cast<std::int64_t>(value->size());
  }

  std::string value_text(const TemplatePart& part, const base::Json& value) const {
    const auto kind = kind_of(part);
    try {
      if (kind == ArgumentKind::message) return message_text(part.style, value.get<Message>());
      if (kind == ArgumentKind::messages)
        return argument_text(ArgumentKind::texts, part.style.empty() ? kBetweenMessages : part.style,
                             renderer_.texts(value.get<std::vector<Message>>()));
    } catch (const base::Json::exception&) {  // of a file that someone else wrote
      return base::dump_json(value);
    }
    return argument_text(kind, part.style, value);
  }

  std::string message_text(std::string_view style, const Message& message) const {
    if (style == kHint) return renderer_.hint(message);
    return style == kLine ? renderer_.line(message) : renderer_.text(message);
  }

  const MessageRenderer& renderer_;
  const MessageTemplate& row_;
  const base::Json& arguments_;
};

std::string unknown_text(const Message& message) {
  return message.arguments().empty() ? message.code()
                                     : fmt::format("{} {}", message.code(), base::dump_json(message.arguments()));
}

}  // namespace

MessageRenderer::MessageRenderer(std::span<const MessageTable> tables, Decorator decorate)
    : decorate_(std::move(decorate)) {
  for (const auto& table : tables)
    for (const auto& row : table) rows_[row.code] = &row;
}

const MessageTemplate* MessageRenderer::find(std::string_view code) const {
  const auto found = rows_.find(code);
  return found == rows_.end() ? nullptr : found->second;
}

std::string MessageRenderer::text(const Message& message) const {
  if (message.empty()) return {};
  const auto* row = find(message.code());
  if (row == nullptr) return unknown_text(message);
  auto text = Filling(*this, *row, message.arguments()).text(parse_template(row->text));
  return decorate_ && !text.empty() && !message.is(kLegacy) ? decorate_(std::move(text)) : text;
}

std::string MessageRenderer::hint(const Message& message) const {
  const auto* row = find(message.code());
  if (row == nullptr || row->hint.empty()) return {};
  auto text = Filling(*this, *row, message.arguments()).text(parse_template(row->hint));
  return decorate_ && !text.empty() && !message.is(kLegacy) ? decorate_(std::move(text)) : text;
}

std::string MessageRenderer::line(const Message& message) const {
  return base::error_line(text(message), hint(message));
}

std::vector<std::string> MessageRenderer::texts(const std::vector<Message>& messages) const {
  std::vector<std::string> out;
  for (const auto& message : messages) out.push_back(text(message));
  return out;
}

std::string text_of(const Message& message, MessageTable table) {
  return MessageRenderer(std::span(&table, 1)).text(message);
}

base::Json message_json(const MessageRenderer& renderer, const Message& message) {
  base::Json json = message;
  if (message.empty()) return json;
  json["text"] = renderer.text(message);
  if (auto hint = renderer.hint(message); !hint.empty()) json["hint"] = std::move(hint);
  return json;
}

base::Json with_words(const MessageRenderer& renderer, base::Json json) {
  if (json.is_object() && json.contains("code") && json.contains("arguments") && json.contains("severity"))
    return message_json(renderer, json.get<Message>());
  if (json.is_structured())
    for (auto& item : json) item = with_words(renderer, std::move(item));
  return json;
}

}  // namespace ridgeline::schema
