// SPDX-License-Identifier: Apache-2.0
#include "report/html/html_text.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "report/inline_text.hpp"
#include "report/markup.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

/// May go on in a new line behind an underscore: names are longer than a phone's columns.
std::string breakable(std::string_view code) {
  std::string out;
  for (const auto c : code) out += c == '_' ? "_<wbr>" : std::string(1, c);
  return out;
}

}  // namespace

std::string plain_html(std::string_view text) { return escape_markup(one_line(text)); }

std::string inline_html(std::string_view text) {
  std::string out;
  for (const auto& span : parse_inline(clean_utf8(text))) {
    switch (span.kind) {
      case Span::Kind::code: out += "<code>" + breakable(escape_markup(span.text)) + "</code>"; break;
      case Span::Kind::strong: out += "<strong>" + escape_markup(span.text) + "</strong>"; break;
      case Span::Kind::link:
        out += fmt::format("<a href=\"#{}\">{}</a>", escape_markup(span.anchor), escape_markup(span.text));
        break;
      default: out += escape_markup(span.text);
    }
  }
  return out;
}

std::string script_json(const base::Json& json) {
  const auto text = base::dump_json(json);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto three = std::string_view(text).substr(i, 3);
    if (text[i] == '<')
      out += "\\u003c";
    else if (text[i] == '>')
      out += "\\u003e";
    else if (text[i] == '&')
      out += "\\u0026";
    else if (three == "\xE2\x80\xA8")
      out += "\\u2028", i += 2;
    else if (three == "\xE2\x80\xA9")
      out += "\\u2029", i += 2;
    else
      out += text[i];
  }
  return out;
}

std::string script_text(std::string_view text) {
  std::string out(text);
  for (std::size_t at = 0; (at = out.find("</", at)) != std::string::npos; at += 3) {
    auto word = out.substr(at + 2, 6);
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (word == "script") out.insert(at + 1, "\\");
  }
  for (std::size_t at = 0; (at = out.find("<!--", at)) != std::string::npos; at += 5) out.replace(at, 4, "\\x3c!--");
  return out;
}

}  // namespace ridgeline::report
