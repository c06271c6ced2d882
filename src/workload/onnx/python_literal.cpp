// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/python_literal.hpp"

#include <charconv>
#include <cstdint>
#include <string>

namespace ridgeline::workload {
namespace {

using base::Json;

constexpr int kDeepest = 16;

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18 & 0x07));
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : left_(text) {}

  std::optional<Json> read_all() {
    auto value = read(0);
    skip_space();
    return value && left_.empty() ? value : std::nullopt;
  }

 private:
  void skip_space() {
    while (!left_.empty() && std::string_view(" \t\r\n").find(left_.front()) != std::string_view::npos)
      left_.remove_prefix(1);
  }
  bool take(char wanted) {
    skip_space();
    if (left_.empty() || left_.front() != wanted) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    return true;
  }

  std::optional<Json> read(int depth) {
    skip_space();
    if (left_.empty() || depth > kDeepest) return std::nullopt;
    switch (left_.front()) {
      case '{': return read_dict(depth);
      case '[': return read_list('[', ']', depth);
      case '(': return read_list('(', ')', depth);
      case '\'':
      case '"': return read_text();
      default: break;
    }
    if (take_word("True") || take_word("true")) return Json(true);
    if (take_word("False") || take_word("false")) return Json(false);
    if (take_word("None") || take_word("null")) return Json(nullptr);
    return read_number();
  }

  std::optional<Json> read_dict(int depth) {
    take('{');
    auto out = Json::object();
    while (!take('}')) {
      const auto key = read(depth + 1);
      if (!key || !take(':')) return std::nullopt;
      auto value = read(depth + 1);
      if (!value) return std::nullopt;
      out[key->is_string() ? key->get<std::string>() : key->dump()] = std::move(*value);
      if (take(',')) continue;
      if (!take('}')) return std::nullopt;
      break;
    }
    return out;
  }

  std::optional<Json> read_list(char open, char close, int depth) {
    take(open);
    auto out = Json::array();
    while (!take(close)) {
      auto value = read(depth + 1);
      if (!value) return std::nullopt;
      out.push_back(std::move(*value));
      if (take(',')) continue;
      if (!take(close)) return std::nullopt;
      break;
    }
    return out;
  }

  std::optional<Json> read_text() {
    const char quote = left_.front();
    left_.remove_prefix(1);
    std::string out;
    while (!left_.empty()) {
      const char c = left_.front();
      left_.remove_prefix(1);
      if (c == quote) return Json(std::move(out));
      if (c != '\\') {
        out += c;
        continue;
      }
      if (left_.empty() || !read_escape(out)) return std::nullopt;
    }
    return std::nullopt;
  }

  bool read_escape(std::string& out) {
    const char kind = left_.front();
    left_.remove_prefix(1);
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits > 0) {
      if (left_.size() < digits) return false;
      std::uint32_t code = 0;
      const auto [end, error] = std::from_chars(left_.data(), left_.data() + digits, code, 16);
      if (error != std::errc() || end != left_.data() + digits) return false;
      append_utf8(out, code);
      left_.remove_prefix(digits);
      return true;
    }
    out += kind == 'n' ? '\n' : kind == 't' ? '\t' : kind == 'r' ? '\r' : kind;
    return true;
  }

  std::optional<Json> read_number() {
    std::int64_t whole = 0;
    const char* begin = left_.data();
    const char* end = begin + left_.size();
    const auto as_whole = std::from_chars(begin, end, whole);
    double real = 0;
    const auto as_real = std::from_chars(begin, end, real);
    if (as_real.ec != std::errc()) return std::nullopt;
    left_.remove_prefix(static_cast<std::size_t>(as_real.ptr - begin));
    if (as_whole.ec == std::errc() && as_whole.ptr == as_real.ptr) return Json(whole);
    return Json(real);
  }

  std::string_view left_;
};

}  // namespace

std::optional<base::Json> parse_python_literal(std::string_view text) { return LiteralReader(text).read_all(); }

}  // namespace ridgeline::workload
