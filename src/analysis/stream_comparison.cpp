// SPDX-License-Identifier: Apache-2.0
#include "analysis/stream_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "analysis/comparison.hpp"
#include "stats/mean.hpp"

namespace ridgeline::analysis {

RL_DEFINE_JSON(StreamFigure, name, a, b, comparison)
RL_DEFINE_JSON(StreamDrops, a, b, low, high, is_known, is_worse)
RL_DEFINE_JSON(StreamComparison, objective, figures, drops, seconds_a, seconds_b, frames_a, frames_b, total)

namespace {

constexpr std::size_t kSecondBatches = 10;
constexpr double kWholeSecond = 0.8;
/// Seconds that are alike to the last digit leave no scatter; the clock's own is this share.
constexpr double kLeastScatter = 1e-4;

using Moments = std::vector<schema::StreamMoment>;

Moments whole_seconds(const Moments& all) {
  if (all.size() < 2) return {};
  Moments out(all.begin() + 1, all.end());
  // A run of days has points of several seconds.
  const double usual = all[1].at_s - all[0].at_s;
  if (all.back().at_s - all[all.size() - 2].at_s < kWholeSecond * std::min(1.0, usual)) out.pop_back();
  return out;
}

using Reading = std::function<std::optional<double>(const schema::StreamMoment&)>;

std::vector<double> values_of(const Moments& moments, const Reading& reading) {
  std::vector<double> out;
  for (const auto& moment : moments)
    if (const auto value = reading(moment)) out.push_back(*value);
  return out;
}

/// `whole`: of the whole run, where there are too few seconds.
stats::Estimate estimate_of(const std::vector<double>& values, double whole) {
  if (values.size() < kLeastSeconds) return {whole, whole, whole};
  auto out = *stats::batch_mean(values, kSecondBatches);
  out.low = std::min(out.low, out.value * (1 - kLeastScatter));
  out.high = std::max(out.high, out.value * (1 + kLeastScatter));
  return out;
}

struct Percentile {
  const char* name;
  std::optional<double> (*whole)(const schema::LatencySummary&);
  std::optional<double> schema::StreamMoment::*member;
};

double drop_share(const schema::StreamStatus& status) {
  return status.offered > 0 ? static_cast<double>(status.all_dropped()) / static_cast<double>(status.offered) : 0;
}

StreamDrops compare_drops(const schema::StreamRun& a, const schema::StreamRun& b, const Moments& seconds_a,
                          const Moments& seconds_b) {
  StreamDrops out;
  out.a = drop_share(a.status);
  out.b = drop_share(b.status);
  out.low = out.high = out.b - out.a;
  const Reading share = [](const schema::StreamMoment& moment) {
    return moment.offered_per_s > 0 ? std::optional(moment.dropped_per_s / moment.offered_per_s) : std::nullopt;
  };
  const auto shares_a = values_of(seconds_a, share);
  const auto shares_b = values_of(seconds_b, share);
  if (shares_a.size() < kLeastSeconds || shares_b.size() < kLeastSeconds) return out;
  out.is_known = true;
  const auto one = *stats::batch_mean(shares_a, kSecondBatches);
  const auto other = *stats::batch_mean(shares_b, kSecondBatches);
  const double half = std::hypot(one.high - one.value, other.high - other.value);
  out.low = other.value - one.value - half;
  out.high = other.value - one.value + half;
  out.is_worse = out.low > 0 && out.b - out.a >= kLeastDrops;
  return out;
}

}  // namespace

StreamComparison compare_streams(const schema::StreamRun& a, const schema::StreamRun& b, double min_effect) {
  StreamComparison out;
  const auto seconds_a = whole_seconds(a.moments);
  const auto seconds_b = whole_seconds(b.moments);
  out.seconds_a = static_cast<std::int64_t>(seconds_a.size());
  out.seconds_b = static_cast<std::int64_t>(seconds_b.size());
  // Costs are what is better when low: of a rate its inverse.
  const auto add = [&](const char* name, const Reading& reading, double whole_a, double whole_b, bool is_rate) {
    const auto values_a = values_of(seconds_a, reading);
    const auto values_b = values_of(seconds_b, reading);
    StreamFigure figure{name, estimate_of(values_a, whole_a), estimate_of(values_b, whole_b), {}};
    figure.comparison =
        is_rate ? compare_estimates(figure.b, figure.a, min_effect) : compare_estimates(figure.a, figure.b, min_effect);
    out.figures.push_back(std::move(figure));
    return std::min(values_a.size(), values_b.size()) >= kLeastSeconds;
  };
  add(
      "throughput", [](const auto& moment) { return std::optional(moment.delivered_per_s); }, a.status.delivered_per_s,
      b.status.delivered_per_s, true);
  std::string decisive = "p50";
  bool is_decisive = false;
  for (const auto& [name, whole, member] :
       {Percentile{"p50", [](const auto& latency) { return std::optional(latency.p50); }, &schema::StreamMoment::p50},
        Percentile{"p95", [](const auto& latency) { return latency.p95; }, &schema::StreamMoment::p95},
        Percentile{"p99", [](const auto& latency) { return latency.p99; }, &schema::StreamMoment::p99}}) {
    const auto whole_a = whole(a.status.latency);
    const auto whole_b = whole(b.status.latency);
    if (!whole_a || !whole_b) continue;
    const bool has_interval = add(
        name, [member = member](const auto& moment) { return moment.*member; }, *whole_a, *whole_b, false);
    // The highest that both runs know well enough to compare, or else the highest that they know.
    if (has_interval || !is_decisive) decisive = name;
    is_decisive = is_decisive || has_interval;
  }
  out.objective = is_paced(b) ? decisive : "throughput";
  const auto total = std::ranges::find(out.figures, out.objective, &StreamFigure::name);
  out.total = total->comparison;
  out.frames_a = a.status.latency.count;
  out.frames_b = b.status.latency.count;
  out.drops = compare_drops(a, b, seconds_a, seconds_b);
  if (out.drops.is_worse) out.total.verdict = schema::Verdict::slower;
  return out;
}

}  // namespace ridgeline::analysis
