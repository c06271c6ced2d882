// SPDX-License-Identifier: Apache-2.0
#include "schema/sweep_command.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace ridgeline::schema {
namespace {

using base::ErrorCode;
using base::fail;

constexpr int kKeyVersion = 1;
/// 2: a metric that ends as NaN fails the trial.
constexpr int kMetricsKeyVersion = 2;
constexpr std::size_t kMostInRange = 10'000;

bool starts_name(char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool goes_on(char c) { return c == '-' || starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool is_name(std::string_view text) {
  return !text.empty() && starts_name(text.front()) && std::all_of(text.begin(), text.end(), goes_on);
}

/// The name in "{name}" at `at`, or "".
std::string_view braced_name(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '{') return {};
  const auto end = text.find('}', at);
  if (end == std::string_view::npos) return {};
  const auto name = text.substr(at + 1, end - at - 1);
  return is_name(name) ? name : std::string_view{};
}

/// Calls `plain` with ordinary text and `placeholder` with names, in order.
template <typename Plain, typename Placeholder>
void walk(std::string_view text, Plain plain, Placeholder placeholder) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '{') {
      const auto inner = braced_name(text, at + 1);
      const auto after = at + 1 + inner.size() + 2;
      if (!inner.empty() && after < text.size() && text[after] == '}') {
        plain(text.substr(at + 1, inner.size() + 2));
        at = after + 1;
        continue;
      }
      const auto name = braced_name(text, at);
      if (!name.empty() && (at == 0 || text[at - 1] != '$')) {
        placeholder(name);
        at += name.size() + 2;
        continue;
      }
    }
    plain(text.substr(at, 1));
    ++at;
  }
}

std::optional<double> number_in_range(std::string_view text) {
  const auto value = base::parse_number(base::trim(text), "value");
  if (!value) return std::nullopt;
  return *value;
}

bool is_whole(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789", text.front() == '-' ? 1 : 0) == std::string_view::npos;
}

/// "1..5", "0..1+0.25" or "16..256*2" as its numbers; nullopt for any other text.
base::Result<std::optional<std::vector<std::string>>> range_of(std::string_view name, std::string_view text) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const auto first = number_in_range(text.substr(0, dots));
  if (!first) return std::nullopt;  // a path, say
  const auto bad = [&](std::string_view what) {
    return fail(ErrorCode::invalid_argument, "--param {}: {}: {}", name, text, what)
        .hint("write 1..5 for the whole numbers, 0..1+0.25 for steps, 16..256*2 for factors, or [\"{}\"] for this text",
              text);
  };
  auto rest = text.substr(dots + 2);
  const auto sign = rest.find_first_of("+*", 1);
  // The sign of an exponent is none of ours: 1e+3.
  const bool has_step = sign != std::string_view::npos && rest[sign - 1] != 'e' && rest[sign - 1] != 'E';
  const auto last = number_in_range(rest.substr(0, has_step ? sign : rest.size()));
  if (!last) return bad("expected a number behind the dots");
  if (*last < *first) return bad("it ends before it begins");
  const bool factor = has_step && rest[sign] == '*';
  if (!has_step && !(is_whole(base::trim(text.substr(0, dots))) && is_whole(base::trim(rest))))
    return bad("expected whole numbers, or a step");
  const auto step = has_step ? number_in_range(rest.substr(sign + 1)) : std::optional<double>(1);
  if (!step || (factor ? *step <= 1 || *first <= 0 : *step <= 0))
    return bad(factor ? "expected a factor above 1 and a beginning above 0" : "expected a step above 0");
  constexpr double kRounding = 1e-9;
  std::vector<std::string> values;
  for (std::size_t i = 0;; ++i) {
    const auto count = static_cast<double>(i);
    const double value = factor ? *first * std::pow(*step, count) : *first + *step * count;
    if (value > *last + kRounding * std::max(std::abs(*last), *step)) break;
    if (i == kMostInRange) return bad(fmt::format("more than {} values", kMostInRange));
    const bool whole = std::floor(value) == value && std::abs(value) < 1e15;
    values.push_back(whole ? fmt::format("{:.0f}", value) : fmt::format("{:.10g}", value));
  }
  return values;
}

base::Result<std::vector<std::string>> values_of(std::string_view name, std::string_view text) {
  if (text.empty() || text.front() != '[') {
    std::vector<std::string> out;
    for (const auto& part : base::split(text, ',')) {
      RL_TRY_ASSIGN(auto range, range_of(name, base::trim(part)));
      if (range) {
        out.insert(out.end(), range->begin(), range->end());
        continue;
      }
      out.emplace_back(base::trim(part));
      if (out.back().empty())
        return fail(ErrorCode::invalid_argument, "--param {}={}: a value is empty", name, text)
            .hint("write [\"\", ...] if that is meant");
    }
    return out;
  }
  RL_TRY_ASSIGN(const auto json, base::parse_json(text, fmt::format("--param {}", name)));
  std::vector<std::string> out;
  for (const auto& item : json) {
    if (item.is_structured() || item.is_null())
      return fail(ErrorCode::invalid_argument, "--param {}: {} is no value; expected texts, numbers, true or false",
                  name, base::dump_json(item));
    out.push_back(item.is_string() ? item.get<std::string>() : base::dump_json(item));
  }
  return out;
}

}  // namespace

base::Result<SweepParam> parse_sweep_param(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos)
    return fail(ErrorCode::invalid_argument, "--param {}: expected NAME=VALUE,VALUE...", text)
        .hint("for example batch=64,128");
  SweepParam out;
  out.name = base::trim(text.substr(0, equals));
  if (!is_name(out.name))
    return fail(ErrorCode::invalid_argument,
                "--param {}: \"{}\" is no name; expected letters, digits, - and _, a letter first", text, out.name);
  if (out.name == kTrialFolder || out.name == kRepeat)
    return fail(ErrorCode::invalid_argument, "--param {}: {{{}}} has a meaning of its own", text, out.name)
        .hint("choose another name");
  RL_TRY_ASSIGN(out.values, values_of(out.name, base::trim(text.substr(equals + 1))));
  std::set<std::string> seen;
  for (const auto& value : out.values) {
    if (!seen.insert(value).second)
      return fail(ErrorCode::invalid_argument, "--param {}: value {} is given twice", text, value);
  }
  if (out.values.empty()) return fail(ErrorCode::invalid_argument, "--param {}: no value; expected at least one", text);
  return out;
}

std::vector<std::string> placeholders(std::string_view text) {
  std::vector<std::string> out;
  walk(
      text, [](std::string_view) {}, [&](std::string_view name) { out.emplace_back(name); });
  return out;
}

std::string substitute(std::string_view text, const SweepPoint& values) {
  std::string out;
  walk(
      text, [&](std::string_view plain) { out += plain; },
      [&](std::string_view name) {
        const auto found = values.find(std::string(name));
        out += found != values.end() ? found->second : fmt::format("{{{}}}", name);
      });
  return out;
}

base::Result<void> check_placeholders(const SweepJob& job) {
  std::vector<std::string> known;
  for (const auto& param : job.parameters) {
    if (std::find(known.begin(), known.end(), param.name) != known.end())
      return fail(ErrorCode::invalid_argument, "--param {} is given twice", param.name)
          .hint("join its values with commas");
    known.push_back(param.name);
  }
  auto usable = known;
  usable.emplace_back(kTrialFolder);
  usable.emplace_back(kRepeat);
  std::set<std::string> used;
  const auto check = [&](const std::string& text, const std::string& where) -> base::Result<void> {
    for (const auto& name : placeholders(text)) {
      if (std::find(usable.begin(), usable.end(), name) == usable.end())
        return fail(ErrorCode::invalid_argument, "{}: placeholder {{{}}} is no parameter", where, name)
            .hint("{}{}add --param {}=..., or write {{{{{}}}}} for the braces", base::did_you_mean(name, usable),
                  base::nearest_name(name, usable).empty() ? "" : " else ", name, name);
      used.insert(name);
    }
    return {};
  };
  for (std::size_t i = 0; i < job.command.size(); ++i)
    RL_TRY(check(job.command[i], i == 0 ? std::string("program") : fmt::format("argument {}", i)));
  for (const auto& [name, value] : job.environment) RL_TRY(check(value, "--env " + name));
  RL_TRY(check(job.metric_file, "--metric-file"));
  for (const auto& name : known) {
    if (used.count(name) != 0) continue;
    return fail(ErrorCode::invalid_argument, "--param {}: neither command nor --env has {{{}}}", name, name)
        .hint("put {{{}}} where the value belongs", name);
  }
  return {};
}

SweepPoint substitutions(const SweepTrialSpec& spec, const std::string& folder) {
  auto out = spec.point;
  out[std::string(kTrialFolder)] = folder;
  out[std::string(kRepeat)] = std::to_string(spec.repeat + 1);
  return out;
}

std::string SweepTrialSpec::key() const {
  const base::Json question{{"version", job.metrics.empty() ? kKeyVersion : kMetricsKeyVersion},
                            {"command", job.command},
                            {"environment", job.environment},
                            {"metrics", job.metrics},
                            {"metric_file", job.metric_file},
                            {"directory", job.directory},
                            {"point", point},
                            {"repeat", repeat},
                            {"device", device_id}};
  return base::sha256_hex(base::dump_json(question)).substr(0, 32);
}

const std::vector<std::string>& own_metrics() {
  static const std::vector<std::string> names{"seconds",  "cpu_s",    "cpu_percent", "memory_gb",     "read_gb",
                                              "write_gb", "gpu_busy", "gpu_util",    "gpu_memory_gb", "gpu_power_w"};
  return names;
}

std::string point_text(const SweepPoint& point, const std::vector<SweepParam>& parameters) {
  std::string out;
  for (const auto& param : parameters) {
    const auto found = point.find(param.name);
    if (found == point.end()) continue;
    if (!out.empty()) out += ' ';
    out += param.name + "=" + found->second;
  }
  return out;
}

}  // namespace ridgeline::schema
