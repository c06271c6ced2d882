// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace ridgeline::app {

/// What a stream can show. Colours follow NO_COLOR, CLICOLOR_FORCE and TERM=dumb.
struct Terminal {
  bool interactive = false;  ///< a terminal, not a file or pipe
  bool colour = false;
  int width = 100;  ///< columns; 100 when unknown
};

[[nodiscard]] Terminal inspect_terminal(std::FILE* stream);

/// Somebody sits before standard output and standard input: a question can be asked.
[[nodiscard]] bool can_ask();

enum class Style { bold, dim, good, warning, bad, accent };

/// The text in the style, or as it is where colours are off.
[[nodiscard]] std::string styled(std::string_view text, Style style, bool colour);

/// `text` wrapped at blanks to lines of `width` columns, continuation lines after an indent that is not counted.
[[nodiscard]] std::string wrapped(std::string_view text, int width, int indent);

}  // namespace ridgeline::app
