// SPDX-License-Identifier: Apache-2.0
#include "report/format.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "analysis/comparison_text.hpp"
#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "stats/interval.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::report {
namespace {

/// Decimals that give four significant digits at `value`.
int decimals_for(double value) {
  if (!std::isfinite(value) || value <= 0) return 2;
  return std::clamp(3 - static_cast<int>(std::floor(std::log10(value))), 0, 3);
}

}  // namespace

double Scale::convert(double raw) const noexcept { return inverse ? 1e9 / raw : raw / per_unit; }

std::string Scale::number(double raw) const {
  const auto value = convert(raw);
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : std::string(kAbsent);
}

std::string Scale::text(double raw) const {
  return std::isfinite(convert(raw)) ? fmt::format("{} {}", number(raw), unit) : std::string(kAbsent);
}

std::string Scale::interval(const stats::Interval& raw) const {
  return inverse ? fmt::format("{}–{}", number(raw.high), number(raw.low))
                 : fmt::format("{}–{}", number(raw.low), number(raw.high));
}

Scale duration_scale(double typical_ns) {
  Scale scale{"ms", 1e6, 2, false};
  if (std::isfinite(typical_ns) && typical_ns > 0) {
    if (typical_ns < 1e3)
      scale = {"ns", 1, 0, false};
    else if (typical_ns < 1e6)
      scale = {"µs", 1e3, 2, false};
    else if (typical_ns < 1e10)
      scale = {"ms", 1e6, 2, false};
    else
      scale = {"s", 1e9, 2, false};
    scale.decimals = decimals_for(typical_ns / scale.per_unit);
  }
  return scale;
}

Scale rate_scale(double typical_per_s) { return {"items/s", 1, decimals_for(typical_per_s), false}; }

Scale objective_scale(schema::Objective objective, double typical_cost) {
  if (objective != schema::Objective::throughput) return duration_scale(typical_cost);
  return {"items/s", 1, decimals_for(1e9 / typical_cost), true};
}

std::string_view objective_title(schema::Objective objective) noexcept {
  switch (objective) {
    case schema::Objective::p99: return "99th-percentile latency";
    case schema::Objective::throughput: return "Throughput";
    default: return "Median latency";
  }
}

std::string objective_name(schema::Objective objective) {
  std::string name(objective_title(objective));
  name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
  return name;
}

std::string gain_phrase(schema::Objective objective, const schema::Comparison& gain) {
  const auto times = analysis::is_too_wide(gain) ? bound_text(gain) : ratio_text(gain.ratio, ratio_decimals(gain));
  switch (objective) {
    case schema::Objective::p99: return fmt::format("{} as fast at {}", times, analysis::tail_text(gain));
    case schema::Objective::throughput: return times + " the throughput";
    default: return times + " as fast";
  }
}

std::string ratio_text(double ratio, int decimals) {
  return std::isfinite(ratio) ? fmt::format("{:.{}f}×", ratio, decimals) : std::string(kAbsent);
}

int ratio_decimals(const schema::Comparison& comparison) noexcept {
  return comparison.high - comparison.low < 0.015 ? 3 : 2;
}

std::string ratio_cell(const schema::Comparison& comparison) {
  if (analysis::is_too_wide(comparison)) return std::string(analysis::kTooFewMeasurements);
  return marked(ratio_text(comparison.ratio, ratio_decimals(comparison)), comparison);
}

std::string interval_cell(const schema::Comparison& comparison) {
  if (analysis::is_too_wide(comparison)) return std::string(kAbsent);
  const auto decimals = ratio_decimals(comparison);
  return fmt::format("{:.{}f}–{:.{}f}", comparison.low, decimals, comparison.high, decimals);
}

std::string change_cell(const schema::Comparison& comparison) {
  if (analysis::is_too_wide(comparison)) return std::string(analysis::kTooFewMeasurements);
  return marked(change_text(comparison.ratio), comparison);
}

std::string change_interval_cell(const schema::Comparison& comparison) {
  if (analysis::is_too_wide(comparison)) return std::string(kAbsent);
  return fmt::format("{} to {}", change_text(comparison.low), change_text(comparison.high));
}

std::string bound_text(const schema::Comparison& comparison) {
  if (comparison.low > 1) return fmt::format("at least {}", ratio_text(comparison.low, 2));
  if (comparison.high < 1) return fmt::format("at most {}", ratio_text(comparison.high, 2));
  return std::string(analysis::kTooFewMeasurements);
}

std::string interval_text(const schema::Comparison& comparison) {
  if (analysis::is_too_wide(comparison))
    return fmt::format("{} for a ratio{}", analysis::kTooFewMeasurements, analysis::tail_note(comparison));
  const auto decimals = ratio_decimals(comparison);
  return fmt::format("95 % interval {:.{}f}–{:.{}f}{}", comparison.low, decimals, comparison.high, decimals,
                     analysis::tail_note(comparison));
}

std::string marked(std::string figure, const schema::Comparison& comparison) {
  const auto mark = analysis::tail_mark(comparison);
  return mark.empty() ? figure : fmt::format("{} ({})", figure, mark);
}

std::string change_text(double ratio) {
  if (!std::isfinite(ratio)) return std::string(kAbsent);
  const auto change = (ratio - 1) * 100;
  const auto text = fmt::format("{:.1f} %", std::abs(change));
  if (text == "0.0 %") return text;
  return (change < 0 ? "−" : "+") + text;
}

std::string percent(double share) { return fmt::format("{:.3g} %", share * 100); }

std::string sentence(std::string text) {
  if (text.empty()) return text;
  const auto first_word = std::string_view(text).substr(0, text.find(' '));
  if (first_word.find_first_of("_=./`*") == std::string_view::npos && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (std::string_view(".!?:").find(text.back()) == std::string_view::npos) text += '.';
  return text;
}

std::string utc_text(std::string_view utc) {
  const auto shape_fits = utc.size() == 20 && utc[10] == 'T' && utc[19] == 'Z';
  if (!shape_fits) return plain_text(utc);
  return plain_text(fmt::format("{} {} UTC", utc.substr(0, 10), utc.substr(11, 8)));
}

std::string objective_text(const schema::Measurement& measurement, schema::Objective objective) {
  if (objective == schema::Objective::throughput) return fmt::format("{:.4g} items/s", measurement.throughput_per_s());
  if (objective == schema::Objective::p99 &&
      static_cast<std::int64_t>(measurement.latency_ns.size()) < stats::samples_needed(0.99))
    return "too few samples for p99";
  const auto cost = analysis::cost_of(measurement, objective);
  return base::format_duration(cost.value);
}

}  // namespace ridgeline::report
