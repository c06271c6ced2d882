// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/utf8.hpp"

namespace ridgeline::app {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

int columns_of(std::FILE* stream) {
  if (const char* columns = std::getenv("COLUMNS"))
    if (const auto parsed = base::parse_integer(columns, "COLUMNS"); parsed && *parsed >= 20 && *parsed <= 1000)
      return static_cast<int>(*parsed);
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  return 100;
}

}  // namespace

Terminal inspect_terminal(std::FILE* stream) {
  Terminal terminal;
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  terminal.interactive = ::isatty(::fileno(stream)) == 1 && !dumb;
  terminal.colour = is_set("CLICOLOR_FORCE") || (terminal.interactive && !is_set("NO_COLOR"));
  terminal.width = columns_of(stream);
  return terminal;
}

bool can_ask() { return inspect_terminal(stdout).interactive && ::isatty(STDIN_FILENO) == 1; }

std::string styled(std::string_view text, Style style, bool colour) {
  if (!colour || text.empty()) return std::string(text);
  const char* code = "";
  switch (style) {
    case Style::bold: code = "1"; break;
    case Style::dim: code = "2"; break;
    case Style::good: code = "32"; break;
    case Style::warning: code = "33"; break;
    case Style::bad: code = "31"; break;
    case Style::accent: code = "36"; break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string wrapped(std::string_view text, int width, int indent) {
  std::string out;
  std::size_t column = 0;
  for (const auto& word : base::split(text, ' ')) {
    const auto columns = report::columns_of(word);
    if (column > 0 && column + 1 + columns > static_cast<std::size_t>(std::max(width, 20))) {
      out += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
      column = 0;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns;
  }
  return out;
}

}  // namespace ridgeline::app
