// SPDX-License-Identifier: Apache-2.0
#include "report/messages/message_reader.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "report/messages/argument_value.hpp"

namespace ridgeline::report {
namespace {

using schema::ArgumentKind;
using schema::Message;
using Parts = std::vector<schema::TemplatePart>;
using Json = base::Json;

constexpr std::size_t kLeastWords = 8;  ///< letters of its own that a sentence needs: less says nothing about it

/// Letters that a template has of its own on the way that was taken.
std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](unsigned char c) { return c > ' '; }));
}

/// One way to read a text as a template: by trying each end of each value, the shortest first.
class Match {
 public:
  using Within = std::function<Message(std::string_view)>;

  Match(const schema::MessageTemplate& row, const Within& within) : row_(row), within_(within) {}

  bool run(const Parts& parts, std::string_view text) {
    whole_ = text.size();
    return from(parts, 0, text, [](std::string_view rest) { return rest.empty(); });
  }
  [[nodiscard]] const Json& arguments() const { return arguments_; }
  [[nodiscard]] std::size_t own_letters() const { return own_letters_; }

 private:
  using Then = std::function<bool(std::string_view)>;

  bool from(const Parts& parts, std::size_t at, std::string_view text, const Then& then) {
    if (at == parts.size()) return then(text);
    const auto& part = parts[at];
    const Then next = [&, at](std::string_view rest) { return from(parts, at + 1, rest, then); };
    switch (part.kind) {
      case schema::TemplatePart::Kind::literal: return literal(part.text, text, next);
      case schema::TemplatePart::Kind::value: return value(part, parts, at, text, next);
      case schema::TemplatePart::Kind::choice: return choice(part, text, next);
      default: return branches(part, text, next);
    }
  }

  bool literal(std::string_view own, std::string_view text, const Then& next) {
    if (!text.starts_with(own)) return false;
    own_letters_ += letters(own);
    if (next(text.substr(own.size()))) return true;
    own_letters_ -= letters(own);
    return false;
  }

  /// With the argument set to `value` if it is not set yet; whether `next` goes on with it.
  bool with(const std::string& name, const Json& value, const std::function<bool()>& next) {
    if (const auto known = arguments_.find(name); known != arguments_.end()) return *known == value && next();
    arguments_[name] = value;
    if (next()) return true;
    arguments_.erase(name);
    return false;
  }

  bool value(const schema::TemplatePart& part, const Parts& parts, std::size_t at, std::string_view text,
             const Then& next) {
    const auto kind = kind_of(part.text);
    // Behind a value stands a literal, most of the time: no other end is worth a try.
    std::string_view behind;
    if (at + 1 < parts.size() && parts[at + 1].kind == schema::TemplatePart::Kind::literal) behind = parts[at + 1].text;
    for (std::size_t size = 1; size <= text.size(); ++size) {
      if (at + 1 == parts.size() && depth_ == 0) size = text.size();
      if (!behind.empty()) {
        const auto found = text.find(behind, size);
        if (found == std::string_view::npos) return false;
        size = found;
      }
      auto value = read(kind, part.style, text.substr(0, size));
      if (value && with(part.text, *value, [&] { return next(text.substr(size)); })) return true;
    }
    return false;
  }

  std::optional<Json> read(ArgumentKind kind, std::string_view style, std::string_view text) const {
    const bool is_message = kind == ArgumentKind::message || kind == ArgumentKind::messages;
    if (is_message && text.size() == whole_) return std::nullopt;  // it would be read without end
    if (kind == ArgumentKind::message) return Json(within_(text));
    if (kind == ArgumentKind::messages) return Json(std::vector{within_(text)});
    return argument_value(kind, style, text);
  }

  bool choice(const schema::TemplatePart& part, std::string_view text, const Then& next) {
    return std::any_of(part.branches.begin(), part.branches.end(), [&](const auto& branch) {
      return with(part.text, branch.word, [&] { return inside(branch.parts, text, next); });
    });
  }

  /// Of a section or a plural: which branch it was follows from the value once that is known, so both are tried, and
  /// the whole is rendered again in the end. A flag has its value from here.
  bool branches(const schema::TemplatePart& part, std::string_view text, const Then& next) {
    const bool flag = kind_of(part.text) == ArgumentKind::flag;
    for (const bool first : {true, false}) {
      const auto go_on = [&] { return inside(part.branches[first ? 0 : 1].parts, text, next); };
      if (flag ? with(part.text, first, go_on) : go_on()) return true;
    }
    return false;
  }

  bool inside(const Parts& parts, std::string_view text, const Then& next) {
    ++depth_;
    const bool matched = from(parts, 0, text, [&](std::string_view rest) {
      --depth_;
      const bool went_on = next(rest);
      ++depth_;
      return went_on;
    });
    --depth_;
    return matched;
  }

  [[nodiscard]] ArgumentKind kind_of(std::string_view name) const {
    const auto found = std::find_if(row_.arguments.begin(), row_.arguments.end(),
                                    [&](const auto& argument) { return argument.name == name; });
    return found == row_.arguments.end() ? ArgumentKind::text : found->kind;
  }

  const schema::MessageTemplate& row_;
  const Within& within_;
  Json arguments_ = Json::object();
  std::size_t own_letters_ = 0;
  int depth_ = 0;          ///< of branches around
  std::size_t whole_ = 0;  ///< bytes of the text
};

}  // namespace

MessageReader::MessageReader(const schema::MessageRenderer& renderer) : renderer_(renderer) {
  for (const auto& [code, row] : renderer.rows()) rows_.push_back({row, schema::parse_template(row->text)});
}

Message MessageReader::read(const std::string& text) {
  // Until it is read it counts as legacy: a template that is one message alone asks for the same text again.
  const auto [known, fresh] = known_.try_emplace(text, Json(text).get<Message>());
  if (!fresh) return known->second;
  auto message = read_new(text);
  known_[text] = message;
  return message;
}

Message MessageReader::read_new(const std::string& text) {
  const Message legacy = Json(text).get<Message>();
  const Match::Within within = [this](std::string_view part) { return read(std::string(part)); };
  Message best = legacy;
  std::size_t best_letters = 0;
  bool several = false;
  for (const auto& row : rows_) {
    Match match(*row.row, within);
    if (!match.run(row.parts, text) || match.own_letters() < std::max(kLeastWords, best_letters)) continue;
    const auto found =
        Json{{"code", row.row->code}, {"arguments", match.arguments()}, {"severity", row.row->severity}}.get<Message>();
    if (renderer_.text(found) != text) continue;
    several = match.own_letters() == best_letters;
    best_letters = match.own_letters();
    best = found;
  }
  return several ? legacy : best;
}

}  // namespace ridgeline::report
