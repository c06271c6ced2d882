// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace ridgeline::base {
namespace {

/// Insertions, deletions, substitutions and swaps of neighbours ("optimal string alignment"): a swap is
/// the commonest typo.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

/// Three significant digits without exponent: 1.23, 12.3, 123.
std::string three_digits(double value) {
  const auto magnitude = std::abs(value);
  if (magnitude >= 99.95) return fmt::format("{:.0f}", value);
  if (magnitude >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::string found;
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(word, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto name = nearest_name(word, candidates);
  return name.empty() ? std::string() : fmt::format("did you mean \"{}\"?", name);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) noexcept {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view file_name(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

Result<std::int64_t> parse_integer(std::string_view text, std::string_view what) {
  std::int64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    return fail(ErrorCode::invalid_argument, "{}: \"{}\" does not fit a 64-bit integer", what, text);
  if (error != std::errc() || stop != end || text.empty())
    return fail(ErrorCode::invalid_argument, "{}: \"{}\" is not a whole number", what, text);
  return value;
}

Result<double> parse_number(std::string_view text, std::string_view what) {
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty() || !std::isfinite(value))
    return fail(ErrorCode::invalid_argument, "{}: \"{}\" is not a finite number", what, text);
  return value;
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text, std::string_view what) {
  struct Unit {
    std::string_view name;
    double nanoseconds;
  };
  static constexpr std::array<Unit, 8> kUnits{
      {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}}};
  const auto bad = [&] {
    return fail(ErrorCode::invalid_argument, "{}: \"{}\" is not a positive duration such as 90s, 5m or 1h30m", what,
                text);
  };
  double total = 0;
  auto rest = trim(text);
  if (rest.empty()) return bad();
  while (!rest.empty()) {
    const auto digits = rest.find_first_not_of("0123456789.");
    if (digits == 0) return bad();
    const auto number = parse_number(rest.substr(0, digits), what);
    if (!number) return bad();
    rest = digits == std::string_view::npos ? std::string_view() : rest.substr(digits);
    const auto letters = rest.find_first_of("0123456789.");
    const auto unit = rest.substr(0, letters);
    rest = letters == std::string_view::npos ? std::string_view() : rest.substr(letters);
    const auto found = std::find_if(kUnits.begin(), kUnits.end(),
                                    [&](const Unit& u) { return u.name == (unit.empty() ? "s" : unit); });
    if (found == kUnits.end()) return bad();
    total += *number * found->nanoseconds;
  }
  constexpr double kLongest = 366.0 * 24 * 3600e9;
  if (!(total >= 1) || total > kLongest) return bad();
  return std::chrono::nanoseconds(static_cast<std::int64_t>(total));
}

Result<std::int64_t> parse_bytes(std::string_view text, std::string_view what) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  static constexpr std::array<Unit, 9> kUnits{{{"B", 1},
                                               {"kB", 1e3},
                                               {"KB", 1e3},
                                               {"MB", 1e6},
                                               {"GB", 1e9},
                                               {"TB", 1e12},
                                               {"KiB", 1024.0},
                                               {"MiB", 1024.0 * 1024},
                                               {"GiB", 1024.0 * 1024 * 1024}}};
  const auto body = trim(text);
  const auto digits = std::min(body.find_first_not_of("0123456789."), body.size());
  const auto number = parse_number(body.substr(0, digits), what);
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [&](const Unit& one) { return one.name == trim(body.substr(digits)); });
  constexpr double kMost = 1e18;
  if (!number || unit == kUnits.end() || !(*number * unit->bytes >= 1) || *number * unit->bytes > kMost)
    return fail(ErrorCode::invalid_argument, "{}: \"{}\" is not a size such as 500MB or 2GB", what, text);
  return static_cast<std::int64_t>(*number * unit->bytes);
}

Result<double> parse_ratio(std::string_view text, std::string_view what) {
  auto body = trim(text);
  const bool percent = !body.empty() && body.back() == '%';
  if (percent) body.remove_suffix(1);
  RL_TRY_ASSIGN(const double value, parse_number(trim(body), what));
  return percent ? value / 100 : value;
}

std::string format_duration(double nanoseconds) {
  const auto magnitude = std::abs(nanoseconds);
  if (magnitude < 999.5) return fmt::format("{:.0f} ns", nanoseconds);
  if (magnitude < 999.5e3) return three_digits(nanoseconds * 1e-3) + " µs";
  if (magnitude < 999.5e6) return three_digits(nanoseconds * 1e-6) + " ms";
  if (magnitude < 99.95e9) return three_digits(nanoseconds * 1e-9) + " s";
  const auto seconds = static_cast<std::int64_t>(std::llround(nanoseconds * 1e-9));
  if (seconds < 3600) return fmt::format("{} m {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} m", seconds / 3600, seconds / 60 % 60);
}

std::string format_bytes(double bytes) {
  static constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1023.5 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{} {}", three_digits(bytes), kUnits[unit]);
}

std::string format_count(double value) {
  const auto magnitude = std::abs(value);
  if (magnitude < 999.5) return magnitude == std::floor(magnitude) ? fmt::format("{:.0f}", value) : three_digits(value);
  if (magnitude < 999.5e3) return three_digits(value * 1e-3) + " k";
  if (magnitude < 999.5e6) return three_digits(value * 1e-6) + " M";
  if (magnitude < 999.5e9) return three_digits(value * 1e-9) + " G";
  return three_digits(value * 1e-12) + " T";
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : noun.ends_with("ch") ? "es" : "s");
}

}  // namespace ridgeline::base
