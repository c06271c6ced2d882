// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::report {

/// A piece of inline text.
struct Span {
  enum class Kind { text, code, strong, link };
  Kind kind = Kind::text;
  std::string text;
  std::string anchor;  ///< link: the target's id on the same page, else ""
};

/// Splits inline text at its marks: `code`, **strong**, [text](#anchor). Marks do not nest; an unbalanced mark is text.
[[nodiscard]] std::vector<Span> parse_inline(std::string_view text);

/// The text without its marks.
[[nodiscard]] std::string strip_marks(std::string_view text);

/// Foreign text (a model's name, a program's output) as a code mark that it cannot break out of: one line, back-quotes
/// replaced. "" stays "".
[[nodiscard]] std::string code_mark(std::string_view text);

/// As code_mark, of a setting's value: an empty one is shown as "".
[[nodiscard]] std::string value_mark(std::string_view text);

/// Foreign text whose marks are made harmless: one line, shown as it is.
[[nodiscard]] std::string plain_text(std::string_view text);

/// "[7](#trial-7)"
[[nodiscard]] std::string trial_link(int id);

/// "[1](#trial-1), [2](#trial-2) and 3 more" (at most `limit` ids named).
[[nodiscard]] std::string trial_links(const std::vector<int>& ids, std::size_t limit = 12);

}  // namespace ridgeline::report
