// SPDX-License-Identifier: Apache-2.0
#include "report/svg/svg_text.hpp"

#include "report/inline_text.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

/// Bytes of the UTF-8 character that begins with `first`.
std::size_t bytes_of(char first) noexcept {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// In ems of DejaVu Sans, one of the widest fonts in use.
double ems_of(std::string_view character) {
  constexpr double kNarrow = 0.33;
  constexpr double kSmall = 0.42;
  constexpr double kLower = 0.64;
  constexpr double kUpper = 0.78;
  constexpr double kWide = 1.0;
  const auto c = character.front();
  if (character.size() > 1) return columns_of(character) > 1 ? 1.05 : 0.86;
  if (std::string_view("ijl.,:;'|! ").find(c) != std::string_view::npos) return kNarrow;
  if (std::string_view("frt-()[]{}/\\\"`").find(c) != std::string_view::npos) return kSmall;
  if (std::string_view("mwMW%@").find(c) != std::string_view::npos) return kWide;
  if ((c >= 'A' && c <= 'Z') || std::string_view("+=<>~#&").find(c) != std::string_view::npos) return kUpper;
  return kLower;
}

double line_width(const Line& line, double size_px) {
  double width = 0;
  for (const auto& piece : line) width += text_width(piece.text, size_px, piece.letters);
  return width;
}

void append(Line& line, std::string_view text, Letters letters) {
  if (line.empty() || line.back().letters != letters) line.push_back({"", letters});
  line.back().text += text;
}

/// What no space divides: "**1.6× as fast**," has a comma in other letters than the word before it.
std::vector<Line> words_of(std::string_view text) {
  std::vector<Line> words;
  bool is_new = true;
  for (const auto& span : parse_inline(clean_utf8(text))) {
    const auto letters = span.kind == Span::Kind::strong ? Letters::bold
                         : span.kind == Span::Kind::code ? Letters::mono
                                                         : Letters::plain;
    for (std::size_t at = 0; at < span.text.size();) {
      const auto character = std::string_view(span.text).substr(at, bytes_of(span.text[at]));
      at += character.size();
      if (character == " " || character == "\n" || character == "\t") {
        is_new = true;
        continue;
      }
      if (is_new) words.emplace_back();
      is_new = false;
      append(words.back(), character, letters);
    }
  }
  return words;
}

/// A number and its unit are one word: "32.0 s", "95 %".
std::vector<Line> with_units(std::vector<Line> words) {
  constexpr std::size_t kLongestUnit = 3;
  std::vector<Line> out;
  for (auto& word : words) {
    const bool is_unit = word.size() == 1 && columns_of(word.front().text) <= kLongestUnit;
    const bool follows_number =
        !out.empty() && out.back().back().text.back() >= '0' && out.back().back().text.back() <= '9';
    if (!is_unit || !follows_number) {
      out.push_back(std::move(word));
      continue;
    }
    append(out.back(), " ", out.back().back().letters);
    append(out.back(), word.front().text, word.front().letters);
  }
  return out;
}

/// A word in parts that fit.
std::vector<Line> divided(const Line& word, double size_px, double width_px) {
  if (line_width(word, size_px) <= width_px) return {word};
  std::vector<Line> parts(1);
  for (const auto& piece : word)
    for (std::size_t at = 0; at < piece.text.size();) {
      const auto character = std::string_view(piece.text).substr(at, bytes_of(piece.text[at]));
      at += character.size();
      if (!parts.back().empty() &&
          line_width(parts.back(), size_px) + text_width(character, size_px, piece.letters) > width_px)
        parts.emplace_back();
      append(parts.back(), character, piece.letters);
    }
  return parts;
}

}  // namespace

double text_width(std::string_view text, double size_px, Letters letters) {
  constexpr double kMonoEms = 0.62;
  constexpr double kBold = 1.12;
  double ems = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = text.substr(at, bytes_of(text[at]));
    at += character.size();
    ems += letters == Letters::mono ? kMonoEms * static_cast<double>(columns_of(character)) : ems_of(character);
  }
  return ems * size_px * (letters == Letters::bold ? kBold : 1);
}

std::vector<Line> wrap_inline(std::string_view text, double size_px, double width_px) {
  std::vector<Line> lines;
  const double space = text_width(" ", size_px, Letters::bold);
  double used = 0;
  for (const auto& word : with_units(words_of(text))) {
    for (const auto& part : divided(word, size_px, width_px)) {
      const double width = line_width(part, size_px);
      const bool is_first = lines.empty() || used + space + width > width_px;
      if (is_first) {
        lines.emplace_back();
        used = 0;
      } else {
        // The space is of the letters on both sides, or plain.
        const bool is_same = lines.back().back().letters == part.front().letters;
        append(lines.back(), " ", is_same ? part.front().letters : Letters::plain);
        used += space;
      }
      for (const auto& piece : part) append(lines.back(), piece.text, piece.letters);
      used += width;
    }
  }
  return lines;
}

}  // namespace ridgeline::report
