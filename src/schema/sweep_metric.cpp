// SPDX-License-Identifier: Apache-2.0
#include "schema/sweep_metric.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <regex>
#include <utility>

#include "base/text.hpp"
#include "schema/message_renderer.hpp"
#include "schema/messages.hpp"
#include "stats/mean.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::schema {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::string_view kJson = "json:";
constexpr std::string_view kNull = "null";  // what JavaScript and pandas write for NaN, and others for "not yet"

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

/// A number as it was found; not finite: NaN, infinity or, in JSON, null.
struct Found {
  std::size_t place = 0;  ///< in its line
  double value = 0;
  std::string text;  ///< unless finite
  int line = 0;
};

/// Whether a text is NaN or infinity, in the spellings of C, Python and JSON, or a number too large for a double.
bool is_not_finite(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && end == text.c_str() + text.size() && !std::isfinite(value);
}

void match_text(const std::regex& expression, std::string_view line, std::vector<Found>& out) {
  try {
    std::cregex_iterator at(line.data(), line.data() + line.size(), expression);
    for (; at != std::cregex_iterator(); ++at) {
      const auto& group = at->size() > 1 ? (*at)[1] : (*at)[0];
      const std::string text(base::trim(std::string_view(group.first, static_cast<std::size_t>(group.length()))));
      const auto place = static_cast<std::size_t>(group.first - line.data());
      if (const auto value = number_in(text))
        out.push_back({place, *value, "", 0});
      else if (is_not_finite(text))
        out.push_back({place, std::numeric_limits<double>::quiet_NaN(), text, 0});
    }
  } catch (const std::regex_error&) {
    // Out of the engine's bounds on this line: it holds no match that could be found.
  }
}

bool in_word(char c) { return c == '_' || c == '.' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Places of "nan", "-inf", "Infinity" and the like that are words of their own.
std::vector<std::pair<std::size_t, std::size_t>> words_not_finite(std::string_view line) {
  std::vector<std::pair<std::size_t, std::size_t>> words;
  for (std::size_t at = 0; at < line.size();) {
    if (!in_word(line[at])) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < line.size() && in_word(line[end])) ++end;
    auto word = line.substr(at, end - at);
    while (!word.empty() && word.back() == '.') word.remove_suffix(1);  // the end of a sentence
    if (!word.empty() && std::string_view("nNiI").find(word.front()) != std::string_view::npos &&
        is_not_finite(std::string(word))) {
      const bool is_signed =
          at > 0 && (line[at - 1] == '-' || line[at - 1] == '+') && (at == 1 || !in_word(line[at - 2]));
      words.emplace_back(at - (is_signed ? 1 : 0), at + word.size());
    }
    at = end;
  }
  return words;
}

/// All matches of a line, also those that there would be if a number stood in the place of a "nan" that the expression
/// does not take.
void match_line(const std::regex& expression, std::string_view line, std::vector<Found>& out) {
  if (line.size() > kLongestMatchedLine) line = line.substr(0, kLongestMatchedLine);
  std::vector<Found> found;
  match_text(expression, line, found);
  for (const auto& [begin, end] : words_not_finite(line)) {
    const auto is_there = [&, first = begin, last = end](const Found& one) {
      return !one.text.empty() && one.place < last && one.place + one.text.size() > first;
    };
    if (std::any_of(found.begin(), found.end(), is_there)) continue;
    // Expressions want digits of different forms: whole numbers, decimals, exponents.
    for (const std::string number : {"1", "1.5", "0.1234", "1.5e-05"}) {
      const auto text = std::string(line.substr(0, begin)) + number + std::string(line.substr(end));
      std::vector<Found> would_be;
      match_text(expression, text, would_be);
      const bool matches = std::any_of(would_be.begin(), would_be.end(),
                                       [&, first = begin](const Found& one) { return one.place == first; });
      if (!matches) continue;
      found.push_back(
          {begin, std::numeric_limits<double>::quiet_NaN(), std::string(line.substr(begin, end - begin)), 0});
      break;
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.place < b.place; });
  out.insert(out.end(), found.begin(), found.end());
}

/// Python's NaN and Infinity, which JSON does not have, as texts.
std::string quoted_not_finite(std::string_view line) {
  std::string out;
  bool in_text = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '"' && (at == 0 || line[at - 1] != '\\')) in_text = !in_text;
    if (!in_text && (at == 0 || !in_word(line[at - 1]))) {
      auto end = at + (line[at] == '-' ? 1 : 0);
      const auto begin = end;
      while (end < line.size() && in_word(line[end])) ++end;
      if (end > begin && std::isalpha(static_cast<unsigned char>(line[begin])) != 0 &&
          is_not_finite(std::string(line.substr(at, end - at)))) {
        out += '"' + std::string(line.substr(at, end - at)) + '"';
        at = end - 1;
        continue;
      }
    }
    out += line[at];
  }
  return out;
}

base::Json parse_line(std::string_view line) {
  if (auto parsed = base::parse_json(line, "line")) return std::move(*parsed);
  if (auto parsed = base::parse_json(quoted_not_finite(line), "line")) return std::move(*parsed);
  return {};
}

void look_up(const std::string& key, const base::Json& line, std::vector<Found>& out) {
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
  constexpr auto kNone = std::numeric_limits<double>::quiet_NaN();
  if (at->is_number() && std::isfinite(at->get<double>())) out.push_back({0, at->get<double>(), "", 0});
  if (at->is_string() && is_not_finite(at->get<std::string>())) out.push_back({0, kNone, at->get<std::string>(), 0});
  if (at->is_null()) out.push_back({0, kNone, std::string(kNull), 0});
}

/// What takes the place of the number, or nullptr.
const Found* divergence_of(SweepTake take, const std::vector<Found>& found) {
  const auto bad = [](const Found& one) { return !one.text.empty(); };
  if (found.empty()) return nullptr;
  switch (take) {
    case SweepTake::min:
    case SweepTake::max: return std::all_of(found.begin(), found.end(), bad) ? &found.back() : nullptr;
    case SweepTake::first: {
      const auto first = std::find_if(found.begin(), found.end(), [](const Found& one) { return one.text != kNull; });
      const auto& one = first == found.end() ? found.front() : *first;
      return bad(one) ? &one : nullptr;
    }
    case SweepTake::mean:
    case SweepTake::sum: {
      const auto first =
          std::find_if(found.begin(), found.end(), [&](const Found& one) { return bad(one) && one.text != kNull; });
      if (first != found.end()) return &*first;
      break;
    }
    case SweepTake::last:
    case SweepTake::median: break;
  }
  if (!bad(found.back())) return nullptr;
  // The place where it began.
  auto at = found.end();
  while (at != found.begin() && bad(*(at - 1))) --at;
  return &*at;
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

/// With the number that an editor shows: a carriage return begins no new one.
template <typename Function>
void for_each_line(std::string_view text, Function function) {
  for (int number = 1; !text.empty();) {
    const auto end = text.find_first_of("\r\n");
    function(text.substr(0, end), number);
    if (end == std::string_view::npos) return;
    if (text[end] == '\n') ++number;
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

OutputMetrics metrics_in_output(const std::vector<SweepMetric>& metrics, std::string_view output) {
  std::vector<std::vector<Found>> found(metrics.size());
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
  for_each_line(output, [&](std::string_view line, int number) {
    base::Json object;
    if (const auto trimmed = base::trim(line); any_json && !trimmed.empty() && trimmed.front() == '{')
      object = parse_line(trimmed);
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const auto known = found[i].size();
      if (expressions[i] && line.find(required[i]) != std::string_view::npos)
        match_line(*expressions[i], line, found[i]);
      if (metrics[i].source == SweepSource::json && object.is_object()) look_up(metrics[i].pattern, object, found[i]);
      for (auto at = known; at < found[i].size(); ++at) found[i][at].line = number;
    }
  });
  OutputMetrics out;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (const auto* bad = divergence_of(metrics[i].take, found[i])) {
      out.diverged.push_back({metrics[i].name, bad->text, bad->line});
      continue;
    }
    std::vector<double> values;
    for (const auto& one : found[i])
      if (one.text.empty()) values.push_back(one.value);
    if (!values.empty()) out.values[metrics[i].name] = taken(metrics[i].take, std::move(values));
  }
  return out;
}

base::Result<std::map<std::string, double>> metrics_in_file(std::string_view text, std::string_view file_name) {
  std::map<std::string, double> out;
  std::map<std::string, Divergence> diverged;
  int number = 0;
  for (const auto& raw : base::split(text, '\n')) {
    ++number;
    auto line = base::trim(std::string_view(raw).substr(0, raw.find('#')));
    if (line.empty()) continue;
    const auto gap = line.find_first_of(" \t");
    const auto value = gap == std::string_view::npos ? std::nullopt : number_in(line.substr(gap));
    const std::string name(line.substr(0, gap));
    diverged.erase(name);
    const std::string written(gap == std::string_view::npos ? "" : base::trim(line.substr(gap)));
    if (is_not_finite(written)) {
      diverged[name] = {name, written, number};
      continue;
    }
    if (!value)
      return fail(ErrorCode::corrupt, "{}:{}: \"{}\" is no metric; expected a name, a blank and a finite number",
                  file_name, number, line.substr(0, 80));
    out[name] = *value;
  }
  if (!diverged.empty())
    return fail(ErrorCode::corrupt, "{} of {}", text_of(describe(diverged.begin()->second), messages::table()),
                file_name);
  return out;
}

Message describe(const Divergence& divergence) {
  return messages::metric_diverged({.metric = divergence.metric, .value = divergence.text, .line = divergence.line});
}

std::string describe(const SweepMetric& metric) {
  const auto take = base::enum_name(metric.take);
  if (metric.source == SweepSource::json) return fmt::format("{} of {} in JSON lines", take, metric.pattern);
  return fmt::format("{} of /{}/", take, metric.pattern);
}

}  // namespace ridgeline::schema
