// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/plain_kernel_name.hpp"

#include <cctype>
#include <cstddef>
#include <vector>

#include "schema/kernel_name.hpp"

namespace ridgeline::trace {
namespace {

bool begins_number(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// "4u", "64ul" -> "4", "64".
std::string_view without_suffix(std::string_view number) {
  const auto digits = number.find_first_not_of("0123456789");
  const auto suffix = number.find_first_not_of("uUlL", digits);
  return digits != std::string_view::npos && suffix == std::string_view::npos ? number.substr(0, digits) : number;
}

/// Words, numbers, "::" and single characters; without blanks and const, and without unnamed namespaces, which "(" and
/// "<" would make hard to tell from parameters and arguments.
std::vector<std::string_view> tokens_of(std::string_view name) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < name.size();) {
    const auto rest = name.substr(at);
    std::size_t size = 1;
    bool keep = name[at] != ' ';
    if (is_of_word(name[at])) {
      while (size < rest.size() && is_of_word(rest[size])) ++size;
      keep = rest.substr(0, size) != "const";
    } else if (rest.starts_with("::")) {
      size = 2;
    } else {
      for (const std::string_view unnamed : {"(anonymous namespace)::", "<unnamed>::"})
        if (rest.starts_with(unnamed)) {
          size = unnamed.size();
          keep = false;
        }
    }
    if (keep) out.push_back(rest.substr(0, size));
    at += size;
  }
  return out;
}

class PlainName {
 public:
  explicit PlainName(std::string_view name) : tokens_(tokens_of(name)), closing_(tokens_.size(), 0) {
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (is(at, "(")) open.push_back(at);
      if (!is(at, ")") || open.empty()) continue;
      closing_[open.back()] = at;
      open.pop_back();
    }
  }

  std::string text() {
    std::string out;
    for (std::size_t at = 0; at < tokens_.size();) {
      if (const auto behind = behind_what_is_left_out(at); behind > at)
        at = behind;
      else if (const auto lambda = behind_instance(at); lambda > at) {
        out.append("#").append(tokens_[at + 2]).append("}");
        at = lambda;
      } else
        out += plain(at++);
    }
    return out;
  }

 private:
  [[nodiscard]] bool is(std::size_t at, std::string_view token) const {
    return at < tokens_.size() && tokens_[at] == token;
  }
  [[nodiscard]] bool is_word(std::size_t at) const {
    return at < tokens_.size() && is_of_word(tokens_[at][0]) && !begins_number(tokens_[at][0]);
  }
  [[nodiscard]] bool is_number(std::size_t at) const {
    return is(at, "-") ? at + 1 < tokens_.size() && begins_number(tokens_[at + 1][0])
                       : at < tokens_.size() && begins_number(tokens_[at][0]);
  }

  [[nodiscard]] std::size_t behind_what_is_left_out(std::size_t at) const {
    if (is_word(at) && is(at + 1, "::")) return at + 2;
    if (is(at, "void") && is_word(at + 1)) return at + 1;
    if (!is(at, "(") || closing_[at] == 0) return at;
    const auto behind = closing_[at] + 1;
    if (is_cast(at)) return behind;
    // Those of the function that a type is within; "operator()" is a name.
    const bool is_name = at > 0 && is(at - 1, "operator");
    return is(behind, "::") && !is_name ? behind : at;
  }

  /// "(cudnn::Type)2", where a template argument begins.
  [[nodiscard]] bool is_cast(std::size_t at) const {
    if (at == 0 || (!is(at - 1, "<") && !is(at - 1, ",")) || !is_number(closing_[at] + 1)) return false;
    for (auto inner = at + 1; inner < closing_[at]; ++inner)
      if (!is_word(inner) && !is(inner, "::")) return false;
    return true;
  }

  /// "(instance 1)]", where a lambda ends.
  [[nodiscard]] std::size_t behind_instance(std::size_t at) const {
    return is(at, "(") && is(at + 1, "instance") && is_number(at + 2) && is(at + 3, ")") && is(at + 4, "]") ? at + 5
                                                                                                            : at;
  }

  [[nodiscard]] std::string_view plain(std::size_t at) const {
    if (tokens_[at] == "true") return "1";
    if (tokens_[at] == "false") return "0";
    if (tokens_[at] == "[" && is(at + 1, "lambda")) return "{";
    return is_number(at) ? without_suffix(tokens_[at]) : tokens_[at];
  }

  std::vector<std::string_view> tokens_;
  std::vector<std::size_t> closing_;  ///< of "(", the place of its ")"; 0: it has none
};

}  // namespace

std::string plain_kernel_name(std::string_view name) { return PlainName(schema::without_parameters(name)).text(); }

}  // namespace ridgeline::trace
