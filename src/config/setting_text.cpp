// SPDX-License-Identifier: Apache-2.0
#include "config/setting_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/text.hpp"

namespace ridgeline::config {
namespace {

using base::ErrorCode;
using base::fail;
using schema::ParamDef;
using schema::ParamType;
using schema::Value;

/// How ONNX Runtime itself names the choices: C enumerator and its number.
struct RuntimeName {
  std::string_view key;
  std::string_view choice;
  std::string_view name;
  std::string_view number;
};
constexpr std::array kRuntimeNames{
    RuntimeName{"execution_mode", "sequential", "ORT_SEQUENTIAL", "0"},
    RuntimeName{"execution_mode", "parallel", "ORT_PARALLEL", "1"},
    RuntimeName{"graph_optimization_level", "disable_all", "ORT_DISABLE_ALL", "0"},
    RuntimeName{"graph_optimization_level", "basic", "ORT_ENABLE_BASIC", "1"},
    RuntimeName{"graph_optimization_level", "extended", "ORT_ENABLE_EXTENDED", "2"},
    RuntimeName{"graph_optimization_level", "layout", "ORT_ENABLE_LAYOUT", "3"},
    RuntimeName{"graph_optimization_level", "all", "ORT_ENABLE_ALL", "99"},
};

struct BooleanFamily {
  std::string_view yes;
  std::string_view no;
};
constexpr std::array kBooleans{BooleanFamily{"true", "false"}, BooleanFamily{"yes", "no"}, BooleanFamily{"on", "off"},
                               BooleanFamily{"y", "n"}, BooleanFamily{"1", "0"}};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

/// `word` in the letter case of `pattern`: ALL, all or All.
std::string cased_like(std::string_view word, std::string_view pattern) {
  std::string out = lower(word);
  const auto is_upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  const auto is_lower = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; };
  const bool any_lower = std::any_of(pattern.begin(), pattern.end(), is_lower);
  if (pattern.empty() || !std::any_of(pattern.begin(), pattern.end(), is_upper)) return out;
  const auto upper = [](unsigned char c) { return static_cast<char>(std::toupper(c)); };
  if (!any_lower && pattern.size() > 1)
    std::transform(out.begin(), out.end(), out.begin(), upper);
  else if (is_upper(pattern.front()) && !out.empty())
    out.front() = upper(static_cast<unsigned char>(out.front()));
  return out;
}

std::string_view without_ort(std::string_view name) { return name.substr(4); }

/// Length of a leading "onnxruntime.ExecutionMode." or "GraphOptimizationLevel::".
std::size_t scope_length(std::string_view text) {
  const auto at = text.find_last_of(".:");
  return at == std::string_view::npos ? 0 : at + 1;
}

std::optional<std::string> choice_of(const ParamDef& param, std::string_view text) {
  const auto word = lower(text.substr(scope_length(text)));
  for (const auto& choice : param.choices)
    if (word == lower(choice.to_text())) return choice.to_text();
  for (const auto& row : kRuntimeNames)
    if (row.key == param.key && (word == lower(row.name) || word == lower(without_ort(row.name)) || text == row.number))
      return std::string(row.choice);
  // A switch that also has modes is often written as a plain switch: torch_compile: true.
  for (const auto& family : kBooleans)
    for (const auto& [written, choice] : {std::pair{family.yes, "default"}, std::pair{family.no, "off"}})
      if (word == written &&
          std::find(param.choices.begin(), param.choices.end(), Value(choice)) != param.choices.end())
        return std::string(choice);
  return std::nullopt;
}

std::optional<Value> integer_of(std::string_view text) {
  std::string digits;
  for (const char c : text)
    if (c != '_') digits += c;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (!digits.empty() && (digits.front() == '-' || digits.front() == '+')) digits.erase(0, 1);
  int base = 10;
  if (lower(digits).rfind("0x", 0) == 0) base = 16;
  if (lower(digits).rfind("0o", 0) == 0) base = 8;
  if (base != 10) digits.erase(0, 2);
  // 010 is eight to YAML 1.1 and ten to YAML 1.2: not readable without knowing the user's loader.
  if (digits.empty() || digits.size() > 18 || (base == 10 && digits.size() > 1 && digits.front() == '0'))
    return std::nullopt;
  std::int64_t value = 0;
  for (const char c : digits) {
    const int digit = std::isdigit(static_cast<unsigned char>(c)) != 0
                          ? c - '0'
                          : std::tolower(static_cast<unsigned char>(c)) - 'a' + 10;
    if (digit < 0 || digit >= base || (base == 16 && digits.size() > 15)) return std::nullopt;
    value = value * base + digit;
  }
  return Value(negative ? -value : value);
}

std::optional<Value> interpret(const ParamDef& param, std::string_view text) {
  switch (param.type) {
    case ParamType::boolean:
      for (const auto& family : kBooleans) {
        if (lower(text) == family.yes) return Value(true);
        if (lower(text) == family.no) return Value(false);
      }
      return std::nullopt;
    case ParamType::integer: return integer_of(text);
    case ParamType::number: {
      if (const auto number = base::parse_number(text, param.key)) return Value(*number);
      return std::nullopt;
    }
    case ParamType::choice:
      if (const auto choice = choice_of(param, text)) return Value(*choice);
      return std::nullopt;
    case ParamType::text: return Value(std::string(text));
  }
  return std::nullopt;
}

bool is_core_tag(std::string_view tag) {
  for (const auto* name : {"", "!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:int", "tag:yaml.org,2002:bool",
                           "tag:yaml.org,2002:float", "tag:yaml.org,2002:null"})
    if (tag == name) return true;
  return false;
}

bool plain_is_legal(std::string_view text, bool flow) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (std::string_view(",[]{}#&*!|>'\"%@`").find(text.front()) != std::string_view::npos) return false;
  if (std::string_view("-?:").find(text.front()) != std::string_view::npos && (text.size() == 1 || text[1] == ' '))
    return false;
  if (text.substr(0, 3) == "---" || text.substr(0, 3) == "...") return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) return false;
  if (flow && text.find_first_of(",[]{}:?") != std::string_view::npos) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte == 0x7F)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + "\"";
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

}  // namespace

bool is_template(std::string_view text) {
  constexpr std::array<std::string_view, 4> kOpenings{"${", "{{", "<%", "$("};
  return std::any_of(kOpenings.begin(), kOpenings.end(),
                     [&](const auto opening) { return text.find(opening) != std::string_view::npos; });
}

base::Result<std::optional<Value>> read_setting(const ParamDef& param, const YamlTree& tree, int index,
                                                std::string_view file_name) {
  const auto& written = tree.at(index);
  const auto& node = tree.at(tree.resolved(index));
  const auto where = fmt::format("{}:{}:{}", file_name, written.line, written.column);
  if (node.kind != YamlKind::scalar)
    return fail(ErrorCode::invalid_argument, "{}: {} holds a {}: expected one value", where, param.key,
                node.kind == YamlKind::mapping ? "mapping" : "sequence");
  if (!is_core_tag(node.tag))
    return fail(ErrorCode::invalid_argument, "{}: {} is tagged {}, which only your own loader can read", where,
                param.key, node.tag)
        .hint("write the plain value, or map {} elsewhere", param.key);
  if (is_null(node)) return std::optional<Value>();
  if (is_template(node.value))
    return fail(ErrorCode::invalid_argument, "{}: {} is filled in later ({})", where, param.key, node.value)
        .hint("write the plain value, or map {} elsewhere", param.key);
  const auto value = interpret(param, node.value);
  if (!value) {
    auto reason = schema::parse_value(param, node.value);
    if (reason)
      return fail(ErrorCode::invalid_argument, "{}: {}={} can be read in two ways", where, param.key, node.value)
          .hint("drop the leading zero");
    return tl::unexpected(std::move(reason).error().in(where));
  }
  if (auto legal = schema::check_value(param, *value); !legal)
    return tl::unexpected(std::move(legal).error().in(where));
  return value;
}

bool must_be_text(const ParamDef& param, std::string_view spelled) {
  if (param.type == ParamType::choice)
    return spelled.empty() || std::isdigit(static_cast<unsigned char>(spelled.front())) == 0;
  return param.type == ParamType::text;
}

std::string spell_like(const ParamDef& param, const Value& value, std::string_view old_text) {
  if (param.type == ParamType::boolean) {
    const auto word = lower(old_text);
    for (const auto& family : kBooleans)
      if (word == family.yes || word == family.no)
        return cased_like(value.as_bool() ? family.yes : family.no, old_text);
  }
  if (param.type == ParamType::choice && choice_of(param, old_text)) {
    const auto scope = old_text.substr(0, scope_length(old_text));
    const auto word = old_text.substr(scope.size());
    for (const auto& choice : param.choices)
      if (lower(word) == choice.to_text()) return std::string(scope) + cased_like(value.to_text(), word);
    for (const auto& old : kRuntimeNames)
      for (const auto& row : kRuntimeNames) {
        if (old.key != param.key || row.key != param.key || row.choice != value.as_text()) continue;
        if (lower(word) == lower(old.name)) return std::string(scope) + cased_like(row.name, word);
        if (lower(word) == lower(without_ort(old.name)))
          return std::string(scope) + cased_like(without_ort(row.name), word);
        if (old_text == old.number) return std::string(row.number);
      }
  }
  if (value.is_number() && !value.is_integer()) {
    // YAML 1.1 reads 1e-05 as text: a float needs its point.
    auto text = value.to_text();
    if (text.find('.') == std::string::npos) text.insert(std::min(text.find('e'), text.size()), ".0");
    return text;
  }
  return value.to_text();
}

ScalarText quote(std::string_view text, ScalarStyle wanted, bool as_text, bool flow) {
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
  if (wanted == ScalarStyle::single_quoted && printable) return {single_quoted(text), ScalarStyle::single_quoted};
  const bool plain = wanted != ScalarStyle::double_quoted && wanted != ScalarStyle::single_quoted &&
                     plain_is_legal(text, flow) && !(as_text && reads_as_non_text(text));
  if (plain) return {std::string(text), ScalarStyle::plain};
  return {double_quoted(text), ScalarStyle::double_quoted};
}

}  // namespace ridgeline::config
