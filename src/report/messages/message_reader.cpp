// SPDX-License-Identifier: Apache-2.0
#include "report/messages/message_reader.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <utility>

#include "report/messages/argument_value.hpp"
#include "schema/messages.hpp"

namespace ridgeline::report {
namespace {

using schema::ArgumentKind;
using schema::Message;
using Parts = std::vector<schema::TemplatePart>;
using Json = base::Json;

/// No record has messages of these modules.
constexpr std::array<std::string_view, 2> kUnrecorded{"doctor.", "report."};
constexpr std::string_view kSeveral = "schema.several";
constexpr int kMostWithin = 6;          // messages within messages: each reads its text in a recursion of its own
constexpr int kMostReads = 1000;        // of texts within one: long lists have many ways to be taken apart
constexpr std::size_t kLeastWords = 8;  ///< letters of its own that a sentence needs: less says nothing about it
constexpr std::size_t kLeastBesideNumbers = 2;

/// Of a sentence that is all its own words one letter will do. Numbers with their units are words of a kind, too: fewer
/// letters are enough if at most one argument may be anything.
std::size_t least_letters(const schema::MessageTemplate& row) {
  if (row.arguments.empty()) return 1;
  std::size_t numbers = 0;
  for (const auto& argument : row.arguments)
    numbers += argument.kind == ArgumentKind::duration || argument.kind == ArgumentKind::bytes ? 1U : 0U;
  return numbers > 0 && row.arguments.size() <= numbers + 2 ? kLeastBesideNumbers : kLeastWords;
}

/// Letters that a template has of its own on the way that was taken.
std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](unsigned char c) { return c > ' '; }));
}

/// Where a text can end at the earliest that has the literals of the parts from `at` on, in order, behind `from`; npos:
/// it lacks one. It is tried before anything that costs more.
std::size_t earliest_end(const Parts& parts, std::size_t at, std::string_view text, std::size_t from) {
  for (; at < parts.size() && from != std::string_view::npos; ++at) {
    const auto& part = parts[at];
    if (part.kind == schema::TemplatePart::Kind::literal) {
      const auto found = text.find(part.text, from);
      from = found == std::string_view::npos ? found : found + part.text.size();
    } else if (!part.branches.empty()) {
      auto least = std::string_view::npos;
      for (const auto& branch : part.branches) least = std::min(least, earliest_end(branch.parts, 0, text, from));
      from = least;
    }
  }
  return from;
}

std::string_view fixed_text(const schema::TemplatePart& part) {
  return part.kind == schema::TemplatePart::Kind::literal ? std::string_view(part.text) : std::string_view();
}

bool is_message(ArgumentKind kind) { return kind == ArgumentKind::message || kind == ArgumentKind::messages; }

/// A template that only joins messages says nothing of what it joins; kSeveral says no more than that.
bool only_joins(const schema::MessageTemplate& row, const Parts& parts) {
  return row.code != kSeveral && !row.arguments.empty() &&
         std::all_of(row.arguments.begin(), row.arguments.end(),
                     [](const auto& one) { return is_message(one.kind); }) &&
         std::none_of(parts.begin(), parts.end(), [](const auto& part) {
           return !part.branches.empty() || std::any_of(part.text.begin(), part.text.end(), [&](unsigned char c) {
             return part.kind == schema::TemplatePart::Kind::literal && std::isalpha(c) != 0;
           });
         });
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
      if (earliest_end(parts, at + 1, text, size) == std::string_view::npos) return false;
      const auto own = text.substr(0, size);
      const auto go_on = [&] { return next(text.substr(size)); };
      if (is_message(kind)) {
        // What it says is read once the rest fits; the whole text would be read without end.
        if (own.size() == whole_ || !with(part.text, std::string(own), go_on)) continue;
        arguments_[part.text] = message_of(kind, part.style, own);
        if (!is_legacy(arguments_[part.text])) own_letters_ += kLeastWords;  // what it says was found, too
        return true;
      }
      const auto value = argument_value(kind, part.style, own);
      if (value && with(part.text, *value, go_on)) return true;
    }
    return false;
  }

  static bool is_legacy(const Json& message) {
    const auto& first = message.is_array() && !message.empty() ? message.front() : message;
    return !first.is_object() || first.at("code") == schema::kLegacy;
  }

  [[nodiscard]] Json message_of(ArgumentKind kind, std::string_view style, std::string_view text) const {
    if (kind == ArgumentKind::message) return within_(text);
    constexpr std::string_view kJoin = "join:";
    const auto between = style.starts_with(kJoin) ? style.substr(kJoin.size()) : "; ";
    std::vector<Message> parts;
    for (auto rest = text; parts.empty() || !rest.empty();) {
      const auto end = std::min(rest.find(between), rest.size());
      parts.push_back(within_(rest.substr(0, end)));
      rest.remove_prefix(std::min(rest.size(), end + between.size()));
    }
    const bool known =
        std::none_of(parts.begin(), parts.end(), [](const auto& part) { return part.is(schema::kLegacy); });
    return known ? parts : std::vector{within_(text)};
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
  for (const auto& [code, row] : renderer.rows()) {
    if (std::any_of(kUnrecorded.begin(), kUnrecorded.end(), [&](auto module) { return code.starts_with(module); }))
      continue;
    auto parts = schema::parse_template(row->text);
    if (!only_joins(*row, parts)) rows_.push_back({row, std::move(parts), {}, {}});
  }
  for (auto& row : rows_) {
    if (row.parts.empty()) continue;
    row.begin = fixed_text(row.parts.front());
    row.end = fixed_text(row.parts.back());
  }
  for (const auto& row : rows_)
    if (row.row->arguments.empty()) fixed_.emplace(row.row->text);
}

Message MessageReader::read(const std::string& text) {
  const Message legacy = Json(text).get<Message>();
  if (depth_ == 0) reads_left_ = kMostReads;
  const auto seen = known_.find(text);
  if (seen != known_.end()) return seen->second;
  if (depth_ == kMostWithin || --reads_left_ < 0) {
    cut_off_ = true;
    return legacy;
  }
  // Until it is read it counts as legacy: a template that is one message alone asks for the same text again.
  known_.emplace(text, legacy);
  const bool cut_off_before = std::exchange(cut_off_, false);
  ++depth_;
  auto message = read_new(text);
  --depth_;
  // What was cut off may be read from a lesser depth.
  if (cut_off_ && depth_ > 0)
    known_.erase(text);
  else
    known_[text] = message;
  cut_off_ = depth_ > 0 && (cut_off_ || cut_off_before);
  return message;
}

std::optional<Message> MessageReader::with_fixed_end(const std::string& text) {
  constexpr std::string_view kBetween = "; ";
  for (auto at = text.find(kBetween); at != std::string::npos; at = text.find(kBetween, at + 1)) {
    const auto end = text.substr(at + kBetween.size());
    if (!fixed_.contains(end)) continue;
    const std::vector parts{read(text.substr(0, at)), read(end)};
    if (std::none_of(parts.begin(), parts.end(), [](const auto& part) { return part.is(schema::kLegacy); }))
      return schema::messages::several(parts);
  }
  return std::nullopt;
}

Message MessageReader::read_new(const std::string& text) {
  if (auto found = with_fixed_end(text)) return *std::move(found);
  const Message legacy = Json(text).get<Message>();
  const Match::Within within = [this](std::string_view part) { return read(std::string(part)); };
  Message best = legacy;
  std::size_t best_letters = 0;
  bool several = false;
  for (const auto& row : rows_) {
    if (!text.starts_with(row.begin) || !text.ends_with(row.end)) continue;
    if (earliest_end(row.parts, 0, text, 0) == std::string_view::npos) continue;
    Match match(*row.row, within);
    if (!match.run(row.parts, text) || match.own_letters() < std::max(least_letters(*row.row), best_letters)) continue;
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
