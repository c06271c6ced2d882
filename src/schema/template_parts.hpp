// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::schema {

/// A piece of a message's template (docs/messages.md).
struct TemplatePart {
  enum class Kind {
    literal,  ///< `text`
    value,    ///< the argument `text`, written in `style`
    asked,    ///< branches[0] where the argument is there (a flag: is set), else branches[1]
    plural,   ///< branches[0] where the count is 1, else branches[1]
    choice,   ///< the branch of the word that the argument is
  };
  struct Branch;
  Kind kind = Kind::literal;
  std::string text;
  std::string style;  ///< "": as its kind is written
  std::vector<Branch> branches;
};
struct TemplatePart::Branch {
  std::string word;  ///< of a choice
  std::vector<TemplatePart> parts;
};

/// Of a template that scripts/make_messages.py accepts; the rest of another is literal from its fault on.
[[nodiscard]] std::vector<TemplatePart> parse_template(std::string_view text);

}  // namespace ridgeline::schema
