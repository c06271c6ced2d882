// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "errors.hpp"

namespace ridgeline::torch_plugin {
namespace {

/// Reads the one kind of JSON that the interface has: a flat object of strings.
class FlatObject {
 public:
  explicit FlatObject(const std::string& text) : text_(text) {}

  std::map<std::string, std::string> read() {
    std::map<std::string, std::string> out;
    expect('{');
    if (next_is('}')) return out;
    do {
      auto name = string();
      expect(':');
      out[std::move(name)] = string();
    } while (next_is(','));
    expect('}');
    return out;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool next_is(char character) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != character) return false;
    ++at_;
    return true;
  }
  void expect(char character) {
    if (!next_is(character))
      refuse("options: expected " + std::string(1, character) + " at character " + std::to_string(at_) + " of " +
             text_);
  }
  std::string string() {
    expect('"');
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] != '\\') {
        out += text_[at_++];
        continue;
      }
      const char escaped = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      at_ += 2;
      switch (escaped) {
        case 'n': out += '\n'; break;
        case 't': out += '\t'; break;
        case 'r': out += '\r'; break;
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'u': out += code_point(); break;
        default: out += escaped;
      }
    }
    expect('"');
    return out;
  }
  /// Control characters only: everything else arrives as UTF-8.
  char code_point() {
    const auto code = std::strtoul(text_.substr(at_, 4).c_str(), nullptr, 16);
    at_ += 4;
    return code < 0x80 ? static_cast<char>(code) : '?';
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      corner = above;
    }
  }
  return row[b.size()];
}

std::string range_text(double low, double high) {
  const auto text = [](double value) {
    auto out = std::to_string(value);
    out.erase(out.find_last_not_of('0') + 1);
    if (!out.empty() && out.back() == '.') out.pop_back();
    return out;
  };
  return text(low) + " to " + text(high);
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  const auto limit = std::max<std::size_t>(2, word.size() / 3);
  std::size_t best = limit + 1;
  std::string nearest;
  for (const auto& name : names)
    if (const auto now = distance(word, name); now < best) {
      best = now;
      nearest = name;
    }
  return nearest.empty() ? "" : ", did you mean \"" + nearest + "\"?";
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string out;
  for (const auto length : shape) out += (out.empty() ? "" : "x") + std::to_string(length);
  return out.empty() ? "1" : out;
}

std::int64_t elements(const std::vector<std::int64_t>& shape) {
  std::int64_t out = 1;
  for (const auto length : shape) out *= length;
  return out;
}

Options Options::parse(const std::string& json) {
  Options out;
  if (!json.empty()) out.values_ = FlatObject(json).read();
  return out;
}

std::string Options::text(const std::string& name, const std::string& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second;
}

std::int64_t Options::whole(const std::string& name, std::int64_t otherwise, std::int64_t low,
                            std::int64_t high) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return otherwise;
  char* end = nullptr;
  errno = 0;
  const auto value = std::strtoll(found->second.c_str(), &end, 10);
  if (found->second.empty() || *end != '\0' || errno != 0 || value < low || value > high)
    refuse("option " + name + "=" + found->second + ": expected a whole number from " + std::to_string(low) + " to " +
           std::to_string(high));
  return value;
}

double Options::number(const std::string& name, double otherwise, double low, double high) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return otherwise;
  char* end = nullptr;
  const auto value = std::strtod(found->second.c_str(), &end);
  if (found->second.empty() || *end != '\0' || !std::isfinite(value) || value < low || value > high)
    refuse("option " + name + "=" + found->second + ": expected a number from " + range_text(low, high));
  return value;
}

bool Options::flag(const std::string& name, bool otherwise) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return otherwise;
  if (found->second != "on" && found->second != "off")
    refuse("option " + name + "=" + found->second + ": expected on or off");
  return found->second == "on";
}

std::vector<std::int64_t> Options::shape(const std::string& name, const std::vector<std::int64_t>& otherwise) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return otherwise;
  constexpr long long kLongest = 1LL << 40;
  std::vector<std::int64_t> out;
  long long elements = 1;
  const char* at = found->second.c_str();
  while (true) {
    char* end = nullptr;
    const auto length = std::isdigit(static_cast<unsigned char>(*at)) != 0 ? std::strtoll(at, &end, 10) : 0;
    if (length < 1 || length > kLongest / elements || (*end != 'x' && *end != '\0') || out.size() >= 7)
      refuse("option " + name + "=" + found->second + ": expected lengths of a sample's axes, for example 3x224x224");
    elements *= length;
    out.push_back(length);
    if (*end == '\0') return out;
    at = end + 1;
  }
}

void Options::check_names(const std::vector<std::string>& known, const std::string& model) const {
  for (const auto& [name, value] : values_)
    if (std::find(known.begin(), known.end(), name) == known.end())
      refuse("no option \"" + name + "\"" + did_you_mean(name, known) + "; " + model + " has " + listed(known));
}

}  // namespace ridgeline::torch_plugin
