// SPDX-License-Identifier: Apache-2.0
#include "report/format.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "analysis/comparison_text.hpp"
#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "stats/interval.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::report {
namespace {

/// Decimals that give four significant digits at `value`.
int decimals_for(double value) {
  if (!std::isfinite(value) || value <= 0) return 2;
  return std::clamp(3 - static_cast<int>(std::floor(std::log10(value))), 0, 3);
}

/// Enough decimals that the interval's ends differ.
int ratio_decimals(const schema::Comparison& comparison) noexcept {
  return comparison.high - comparison.low < 0.015 ? 3 : 2;
}

schema::Quantity with_decimals(const schema::Comparison& comparison, double ratio) {
  return {ratio, "", ratio_decimals(comparison)};
}

/// The percentile that a p99 comparison is of where its samples support a lower one only, and whether it is the median.
std::pair<std::optional<std::int64_t>, bool> lower_tail(const schema::Comparison& comparison) {
  const auto percentile = analysis::lower_percentile(comparison);
  if (percentile == analysis::kMedian) return {std::nullopt, true};
  return {percentile, false};
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

schema::Message objective_name(schema::Objective objective, bool starts) {
  using enum messages::ObjectiveIs;
  return messages::objective({.is = objective == schema::Objective::p99          ? p99
                                    : objective == schema::Objective::throughput ? throughput
                                                                                 : latency,
                              .starts = starts});
}

schema::Message times_of(const schema::Comparison& gain) {
  using enum messages::TimesKind;
  if (!analysis::is_too_wide(gain)) return messages::times({.kind = known, .ratio = with_decimals(gain, gain.ratio)});
  if (!analysis::has_bound(gain)) return messages::times({.kind = unknown});
  return messages::times(
      {.kind = gain.low > 1 ? least : most, .ratio = schema::Quantity{gain.low > 1 ? gain.low : gain.high, "", 2}});
}

schema::Message gain_phrase(schema::Objective objective, const schema::Comparison& gain) {
  using enum messages::GainOf;
  const auto of_tail = gain.tail > 0.5 ? percentile : gain.tail > 0 ? median : tail;
  return messages::gain({.times = times_of(gain),
                         .of = objective == schema::Objective::p99          ? of_tail
                               : objective == schema::Objective::throughput ? rate
                                                                            : speed,
                         .percentile = std::llround(gain.tail * 100)});
}

schema::Message ratio_of(const schema::Comparison& comparison) {
  if (analysis::is_too_wide(comparison)) return messages::ratio({});
  const auto [percentile, median] = lower_tail(comparison);
  return messages::ratio(
      {.ratio = with_decimals(comparison, comparison.ratio), .percentile = percentile, .median = median});
}

std::string interval_cell(const schema::Comparison& comparison) {
  if (analysis::is_too_wide(comparison)) return std::string(kAbsent);
  const auto decimals = ratio_decimals(comparison);
  return fmt::format("{:.{}f}–{:.{}f}", comparison.low, decimals, comparison.high, decimals);
}

schema::Message change_of(const schema::Comparison& comparison) {
  if (analysis::is_too_wide(comparison)) return messages::ratio({});
  const auto [percentile, median] = lower_tail(comparison);
  return messages::ratio({.change = comparison.ratio - 1, .percentile = percentile, .median = median});
}

schema::Message change_interval_of(const schema::Comparison& comparison) {
  if (analysis::is_too_wide(comparison)) return messages::change_interval({});
  return messages::change_interval({.low = comparison.low - 1, .high = comparison.high - 1});
}

schema::Message interval_of(const schema::Comparison& comparison) {
  messages::Interval out;
  if (!analysis::is_too_wide(comparison)) {
    out.low = with_decimals(comparison, comparison.low);
    out.high = with_decimals(comparison, comparison.high);
  }
  std::tie(out.percentile, out.median) = lower_tail(comparison);
  return messages::interval(out);
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

schema::Message value_by(const schema::Measurement& measurement, schema::Objective objective) {
  messages::ObjectiveValue out;
  if (objective == schema::Objective::throughput)
    out.rate = measurement.throughput_per_s();
  else if (objective == schema::Objective::p99 &&
           static_cast<std::int64_t>(measurement.latency_ns.size()) < stats::samples_needed(0.99))
    out.few = true;
  else
    out.time = analysis::cost_of(measurement, objective).value;
  return messages::objective_value(out);
}

schema::Message time_division(const schema::TimeSpent& spent) {
  // Microseconds of bookkeeping are no part worth a word.
  const auto part = [](double seconds) { return seconds >= 0.05 ? std::optional(seconds * 1e9) : std::nullopt; };
  const double rest_s = spent.trials_s + spent.comparisons_s + spent.answer_s;
  return messages::tune_time_spent({.preparation = spent.preparation_s * 1e9,
                                    .trials = spent.trials_s * 1e9,
                                    .share = rest_s > 0 ? spent.trials_s / rest_s : 0,
                                    .comparisons = part(spent.comparisons_s),
                                    .answer = part(spent.answer_s)});
}

}  // namespace ridgeline::report
