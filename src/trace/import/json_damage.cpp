// SPDX-License-Identifier: Apache-2.0
#include "trace/import/json_damage.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "trace/export/clean_text.hpp"

namespace ridgeline::trace {
namespace {

/// Not "id", which begins what a trace says of a GPU, too.
constexpr std::array<std::string_view, 9> kEventKeys{"ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "bp"};

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

class Mender {
 public:
  explicit Mender(std::string_view json) : json_(json) {}

  std::string mend() {
    while (at_ < json_.size()) {
      const char c = json_[at_];
      if (is_blank(c)) {
        ++at_;
      } else if (c == ',') {
        ++at_;  // begin_value puts those that are needed
      } else if (c == ':') {
        put(c);
      } else if (c == '}' || c == ']') {
        close(c);
      } else {
        if (c == '"' && is_key()) close_arrays();
        begin_value();
        if (c == '{' || c == '[')
          open(c);
        else if (c == '"')
          string();
        else
          token();
      }
    }
    while (!open_.empty()) close_innermost();
    return std::move(out_);
  }

 private:
  void put(char c) {
    out_ += c;
    ++at_;
  }
  /// Before whatever is no separator: a comma, where something lies before it.
  void begin_value() {
    if (!out_.empty() && out_.back() != '{' && out_.back() != '[' && out_.back() != ':') out_ += ',';
  }
  void open(char c) {
    open_ += c;
    put(c);
  }
  void close_innermost() {
    out_ += open_.back() == '{' ? '}' : ']';
    open_.pop_back();
  }
  void close(char c) {
    ++at_;
    const char opened = c == '}' ? '{' : '[';
    if (c == ']' && (open_.empty() || open_.back() != opened)) return;
    while (open_.size() > 1 && open_.back() != opened) close_innermost();
    if (!open_.empty()) close_innermost();
  }
  /// Whether a colon follows the string.
  [[nodiscard]] bool is_key() const {
    const auto behind = behind_string(json_.data(), at_ + 1, json_.size());
    const auto colon = behind == std::string_view::npos ? json_.size() : skip_blanks(json_, behind);
    return colon < json_.size() && json_[colon] == ':';
  }
  /// Arrays have no keys: they were not closed.
  void close_arrays() {
    while (open_.size() > 1 && open_.back() == '[') close_innermost();
  }
  void string() {
    const auto end = std::min(behind_string(json_.data(), at_ + 1, json_.size()), json_.size());
    for (const char c : clean_text(json_.substr(at_, end - at_), room_))
      out_ += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    at_ = end;
  }
  /// A number, or a word.
  void token() {
    do out_ += json_[at_++];
    while (at_ < json_.size() && !is_blank(json_[at_]) &&
           std::string_view(",:{}[]\"").find(json_[at_]) == std::string_view::npos);
  }

  std::string_view json_;
  std::size_t at_ = 0;
  std::string open_;
  std::string out_;
  std::string room_;  ///< of clean_text
};

}  // namespace

std::size_t behind_string(const char* bytes, std::size_t at, std::size_t end) {
  for (;;) {
    const auto* quote = static_cast<const char*>(std::memchr(bytes + at, '"', end - at));
    if (quote == nullptr) return std::string_view::npos;
    const auto place = static_cast<std::size_t>(quote - bytes);
    std::size_t slashes = 0;
    while (place > at + slashes && bytes[place - 1 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 0) return place + 1;
    at = place + 1;
  }
}

bool begins_event(std::string_view text, std::size_t at) {
  const auto quote = skip_blanks(text, at + 1);
  if (quote >= text.size() || text[quote] != '"') return false;
  const auto end = text.find('"', quote + 1);
  if (end == std::string_view::npos) return false;
  const auto colon = skip_blanks(text, end + 1);
  return colon < text.size() && text[colon] == ':' &&
         std::find(kEventKeys.begin(), kEventKeys.end(), text.substr(quote + 1, end - quote - 1)) != kEventKeys.end();
}

std::size_t next_event(std::string_view text, std::size_t at) {
  for (at = text.find('{', at); at != std::string_view::npos; at = text.find('{', at + 1)) {
    auto before = at;
    while (before > 0 && is_blank(text[before - 1])) --before;
    if (before > 0 && (text[before - 1] == ',' || text[before - 1] == '}') && begins_event(text, at)) return at;
  }
  return std::string_view::npos;
}

bool is_separator(std::string_view text) {
  const bool is_first = text.starts_with('[');
  if (is_first) text.remove_prefix(1);
  const auto is_plain = [](char c) { return c == ',' || is_blank(c); };
  return !std::all_of(text.begin(), text.end(), is_plain) ||
         std::count(text.begin(), text.end(), ',') == (is_first ? 0 : 1);
}

std::string mended(std::string_view json) { return Mender(json).mend(); }

}  // namespace ridgeline::trace
