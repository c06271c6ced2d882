// SPDX-License-Identifier: Apache-2.0
#include "schema/template_parts.hpp"

#include <utility>

namespace ridgeline::schema {
namespace {

using Kind = TemplatePart::Kind;
using Parts = std::vector<TemplatePart>;

class TemplateParser {
 public:
  explicit TemplateParser(std::string_view text) : text_(text) {}

  Parts parts(bool inside) {
    Parts out;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool twice = at_ + 1 < text_.size() && text_[at_ + 1] == c;
      if (twice && (c == '{' || c == '|' || (c == '}' && !inside))) {
        literal(out, c);
        at_ += 2;
      } else if (c == '{') {
        ++at_;
        out.push_back(braces());
      } else if (inside && (c == '}' || c == '|')) {
        break;
      } else {
        literal(out, c);
        ++at_;
      }
    }
    return out;
  }

 private:
  static void literal(Parts& out, char c) {
    if (out.empty() || out.back().kind != Kind::literal) out.push_back({});
    out.back().text += c;
  }

  std::string until(std::string_view ends) {
    const auto end = std::min(text_.find_first_of(ends, at_), text_.size());
    return std::string(text_.substr(std::exchange(at_, end), end - at_));
  }
  /// The character at the place, which is left behind.
  char take() { return at_ < text_.size() ? text_[at_++] : '}'; }

  TemplatePart braces() {
    TemplatePart part{Kind::value, until("}:?#="), {}, {}};
    switch (take()) {
      case ':':
        part.style = until("}");
        ++at_;
        break;
      case '?': branches(part, Kind::asked); break;
      case '#': branches(part, Kind::plural); break;
      case '=':
        part.kind = Kind::choice;
        do {
          auto word = until(":");
          ++at_;
          part.branches.push_back({std::move(word), parts(true)});
        } while (take() == '|');
        break;
      default: break;
    }
    return part;
  }

  void branches(TemplatePart& part, Kind kind) {
    part.kind = kind;
    do part.branches.push_back({{}, parts(true)});
    while (take() == '|');
    part.branches.resize(2);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Parts parse_template(std::string_view text) { return TemplateParser(text).parts(false); }

}  // namespace ridgeline::schema
