// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/input_flags.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "ridgeline/flag_values.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::string_view kExample = "images:photo.npy, mask=ones, ids=0..30521 or rate=16000";

/// What follows the name in quotes, with its separator; "" where there are no quotes.
std::string_view after_quotes(const std::string& text) {
  if (text.empty() || text[0] != '"') return {};
  const auto end = text.find('"', 1);
  return end == std::string::npos ? std::string_view() : std::string_view(text).substr(end + 1);
}

bool is_value(std::string_view text) {
  if (text == "ones" || text == "zeros" || text == "true" || text == "false") return true;
  if (const auto dots = text.find(".."); dots != std::string_view::npos)
    return base::parse_integer(text.substr(0, dots), "--input") &&
           base::parse_integer(text.substr(dots + 2), "--input");
  return base::parse_number(text, "--input").has_value();
}

struct Parts {
  std::string name;
  std::string rest;
  bool is_file = false;
};

Result<Parts> parts_of(const std::string& text) {
  const auto refused = [&] {
    return fail(ErrorCode::invalid_argument,
                "--input {}: expected NAME:FILE.npy or NAME=VALUE; VALUE is a number, ones, zeros or LOW..HIGH", text)
        .hint("for example --input {}; put a name with : or = in quotes", kExample);
  };
  if (const auto rest = after_quotes(text); !rest.empty()) {
    Parts parts{text.substr(1, text.size() - rest.size() - 2), std::string(rest.substr(1)), rest[0] == ':'};
    if (parts.name.empty() || parts.rest.empty() || (rest[0] != ':' && rest[0] != '=')) return refused();
    if (!parts.is_file && !is_value(parts.rest)) return refused();
    return parts;
  }
  const auto equals = text.rfind('=');
  if (equals != std::string::npos && equals > 0 && is_value(std::string_view(text).substr(equals + 1)))
    return Parts{text.substr(0, equals), text.substr(equals + 1), false};
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return refused();
  return Parts{text.substr(0, colon), text.substr(colon + 1), true};
}

}  // namespace

Result<std::pair<std::string, std::string>> name_and_rest(const std::string& text, std::string_view flag,
                                                          std::string_view example) {
  if (const auto rest = after_quotes(text); rest.size() > 1 && rest[0] == ':')
    return std::pair{text.substr(1, text.size() - rest.size() - 2), std::string(rest.substr(1))};
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon + 1 == text.size())
    return fail(ErrorCode::invalid_argument, "{} {}: expected NAME:VALUE", flag, text)
        .hint("for example {} {}", flag, example);
  return std::pair{text.substr(0, colon), text.substr(colon + 1)};
}

Result<void> read_input_flags(const std::vector<std::string>& texts, schema::WorkloadRef& workload) {
  for (const auto& text : list_values(texts, [](const auto& one) { return parts_of(one).has_value(); })) {
    RL_TRY_ASSIGN(auto parts, parts_of(text));
    for (const auto& given : workload.input_files)
      if (given.name == parts.name)
        return fail(ErrorCode::invalid_argument, "--input {}: {} is already read from {}", text, given.name, given.path)
            .hint("give one file or value");
    for (const auto& given : workload.given_values)
      if (given.name == parts.name)
        return fail(ErrorCode::invalid_argument, "--input {}: {} is already {}", text, given.name, given.text)
            .hint("give one file or value");
    if (parts.is_file)
      workload.input_files.push_back({std::move(parts.name), std::move(parts.rest), ""});
    else
      workload.given_values.push_back({std::move(parts.name), std::move(parts.rest)});
  }
  return {};
}

}  // namespace ridgeline::app
