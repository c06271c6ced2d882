// SPDX-License-Identifier: Apache-2.0
#include "schema/sweep_metric.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <optional>
#include <regex>

#include "base/text.hpp"
#include "stats/mean.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::schema {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::string_view kJson = "json:";

/// A number as programs print it; the whole text must be one.
std::optional<double> number_in(std::string_view text) {
  const auto value = base::parse_number(base::trim(text), "value");
  if (!value) return std::nullopt;
  return *value;
}

std::optional<std::regex> compiled(const std::string& pattern) {
  try {
    // libstdc++'s other engine recurses for each character and can take exponential time; this one has no
    // back-references.
    return std::regex(pattern, std::regex::ECMAScript | std::regex::optimize | std::regex_constants::__polynomial);
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
}

/// The longest plain text that every match holds, "" when that is unknown: lines without it need no engine.
std::string required_text(std::string_view pattern) {
  std::string best;
  std::string run;
  const auto end_run = [&] {
    if (run.size() > best.size()) best = run;
    run.clear();
  };
  int depth = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (c == '|') return {};
    if (c == '[') {
      end_run();
      while (i + 1 < pattern.size() && pattern[i + 1] != ']') i += pattern[i + 1] == '\\' ? 2 : 1;
      ++i;
    } else if (c == '\\') {
      ++i;
      const auto after = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
      const bool letter = std::isalnum(static_cast<unsigned char>(next)) != 0;
      if (letter || depth > 0 || std::string_view("?*{").find(after) != std::string_view::npos)
        end_run();
      else
        run += next;
    } else if (c == '(' || c == ')') {
      end_run();
      depth += c == '(' ? 1 : -1;
    } else if (c == '{') {
      end_run();
      while (i < pattern.size() && pattern[i] != '}') ++i;
    } else if (std::string_view(".^$*+?").find(c) != std::string_view::npos) {
      end_run();
    } else if (depth > 0 || (next != '\0' && std::string_view("?*{").find(next) != std::string_view::npos)) {
      end_run();
    } else {
      run += c;
    }
  }
  end_run();
  return best;
}

void match_line(const std::regex& expression, std::string_view line, std::vector<double>& out) {
  if (line.size() > kLongestMatchedLine) line = line.substr(0, kLongestMatchedLine);
  try {
    std::cregex_iterator at(line.data(), line.data() + line.size(), expression);
    for (; at != std::cregex_iterator(); ++at) {
      const auto& group = at->size() > 1 ? (*at)[1] : (*at)[0];
      if (const auto value = number_in(std::string_view(group.first, static_cast<std::size_t>(group.length()))))
        out.push_back(*value);
    }
  } catch (const std::regex_error&) {
    // Out of the engine's bounds on this line: it holds no match that could be found.
  }
}

void look_up(const std::string& key, const base::Json& line, std::vector<double>& out) {
  const base::Json* at = &line;
  if (const auto whole = line.find(key); whole != line.end()) {
    at = &*whole;
  } else {
    for (const auto& part : base::split(key, '.')) {
      if (!at->is_object()) return;
      const auto found = at->find(part);
      if (found == at->end()) return;
      at = &*found;
    }
  }
  if (at->is_number() && std::isfinite(at->get<double>())) out.push_back(at->get<double>());
}

double taken(SweepTake take, std::vector<double> values) {
  switch (take) {
    case SweepTake::last: return values.back();
    case SweepTake::first: return values.front();
    case SweepTake::min: return *std::min_element(values.begin(), values.end());
    case SweepTake::max: return *std::max_element(values.begin(), values.end());
    case SweepTake::sum: return std::accumulate(values.begin(), values.end(), 0.0);
    case SweepTake::mean: return stats::mean(values);
    case SweepTake::median: break;
  }
  return stats::median(std::move(values));
}

template <typename Function>
void for_each_line(std::string_view text, Function function) {
  while (!text.empty()) {
    const auto end = text.find_first_of("\r\n");
    function(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

base::Result<SweepMetric> parse_sweep_metric(std::string_view text) {
  const auto equals = text.find('=');
  SweepMetric out;
  if (equals != std::string_view::npos) out.name = base::trim(text.substr(0, equals));
  if (out.name.empty() || out.name.find_first_of(" \t:") != std::string::npos)
    return fail(ErrorCode::invalid_argument, "--metric {}: expected NAME=REGEX or NAME=json:KEY", text)
        .hint("for example 'samples_per_s=speed: ([0-9.]+)'");
  const auto& own = own_metrics();
  if (std::find(own.begin(), own.end(), out.name) != own.end())
    return fail(ErrorCode::invalid_argument, "--metric {}: {} is measured anyway", text, out.name)
        .hint("choose another name");
  auto rest = text.substr(equals + 1);
  if (const auto colon = rest.find(':'); colon != std::string_view::npos)
    if (const auto take = base::enum_from_name<SweepTake>(rest.substr(0, colon))) {
      out.take = *take;
      rest.remove_prefix(colon + 1);
    }
  if (rest.substr(0, kJson.size()) == kJson) {
    out.source = SweepSource::json;
    rest.remove_prefix(kJson.size());
  }
  out.pattern = rest;
  if (out.pattern.empty())
    return fail(ErrorCode::invalid_argument,
                "--metric {}: nothing to look for; expected a regular expression or json:KEY", text);
  if (out.source == SweepSource::regex && !compiled(out.pattern))
    return fail(ErrorCode::invalid_argument,
                "--metric {}: \"{}\" is no regular expression (as in JavaScript, without back-references)", text,
                out.pattern)
        .hint("check its brackets");
  return out;
}

base::Result<SweepObjective> parse_sweep_objective(std::string_view text) {
  const auto colon = text.find(':');
  const auto way = text.substr(0, colon);
  SweepObjective out;
  if (colon != std::string_view::npos) out.metric = base::trim(text.substr(colon + 1));
  if (colon == std::string_view::npos || (way != "max" && way != "min") || out.metric.empty())
    return fail(ErrorCode::invalid_argument, "--objective {}: expected max:METRIC or min:METRIC", text)
        .hint("for example max:samples_per_s or min:seconds");
  out.maximize = way == "max";
  return out;
}

std::map<std::string, double> metrics_in_output(const std::vector<SweepMetric>& metrics, std::string_view output) {
  std::vector<std::vector<double>> found(metrics.size());
  std::vector<std::optional<std::regex>> expressions(metrics.size());
  std::vector<std::string> required(metrics.size());
  bool any_json = false;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].source == SweepSource::regex) {
      expressions[i] = compiled(metrics[i].pattern);
      required[i] = required_text(metrics[i].pattern);
    }
    any_json = any_json || metrics[i].source == SweepSource::json;
  }
  for_each_line(output, [&](std::string_view line) {
    base::Json object;
    if (const auto trimmed = base::trim(line); any_json && !trimmed.empty() && trimmed.front() == '{')
      if (auto parsed = base::parse_json(trimmed, "line")) object = std::move(*parsed);
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      if (expressions[i] && line.find(required[i]) != std::string_view::npos)
        match_line(*expressions[i], line, found[i]);
      if (metrics[i].source == SweepSource::json && object.is_object()) look_up(metrics[i].pattern, object, found[i]);
    }
  });
  std::map<std::string, double> out;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (!found[i].empty()) out[metrics[i].name] = taken(metrics[i].take, std::move(found[i]));
  return out;
}

base::Result<std::map<std::string, double>> metrics_in_file(std::string_view text, std::string_view file_name) {
  std::map<std::string, double> out;
  int number = 0;
  for (const auto& raw : base::split(text, '\n')) {
    ++number;
    auto line = base::trim(std::string_view(raw).substr(0, raw.find('#')));
    if (line.empty()) continue;
    const auto gap = line.find_first_of(" \t");
    const auto value = gap == std::string_view::npos ? std::nullopt : number_in(line.substr(gap));
    if (!value)
      return fail(ErrorCode::corrupt, "{}:{}: \"{}\" is no metric; expected a name, a blank and a finite number",
                  file_name, number, line.substr(0, 80));
    out[std::string(line.substr(0, gap))] = *value;
  }
  return out;
}

std::string describe(const SweepMetric& metric) {
  const auto take = base::enum_name(metric.take);
  if (metric.source == SweepSource::json) return fmt::format("{} of {} in JSON lines", take, metric.pattern);
  return fmt::format("{} of /{}/", take, metric.pattern);
}

}  // namespace ridgeline::schema
