// SPDX-License-Identifier: Apache-2.0
#include "analysis/probe_figure.hpp"

#include <algorithm>
#include <vector>

#include "analysis/summary.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::analysis {
namespace {

double percentile_value(const ProbeFigure& figure, double q) {
  if (q >= 0.99) return figure.p99_ns;
  if (q >= 0.95) return figure.p95_ns;
  return q >= 0.9 ? figure.p90_ns : figure.median_ns;
}

}  // namespace

ProbeFigure figure_of(const schema::Measurement& measurement) {
  ProbeFigure figure;
  const auto& samples = measurement.latency_ns;
  if (samples.empty()) return figure;
  figure.count = static_cast<std::int64_t>(samples.size());
  figure.median_ns = stats::quantile(samples, 0.5);
  figure.p90_ns = stats::quantile(samples, 0.9);
  figure.p95_ns = stats::quantile(samples, 0.95);
  figure.p99_ns = stats::quantile(samples, 0.99);
  if (const double rate = measurement.throughput_per_s(); rate > 0) figure.ns_per_item = 1e9 / rate;
  return figure;
}

ProbeFigure median_figure(const std::vector<ProbeFigure>& figures) {
  ProbeFigure out;
  if (figures.empty()) return out;
  const auto median = [&](double ProbeFigure::*number) {
    std::vector<double> values;
    for (const auto& figure : figures) values.push_back(figure.*number);
    return stats::quantile(std::move(values), 0.5);
  };
  out.median_ns = median(&ProbeFigure::median_ns);
  out.p90_ns = median(&ProbeFigure::p90_ns);
  out.p95_ns = median(&ProbeFigure::p95_ns);
  out.p99_ns = median(&ProbeFigure::p99_ns);
  out.ns_per_item = median(&ProbeFigure::ns_per_item);
  out.count = figures.front().count;
  for (const auto& figure : figures) out.count = std::min(out.count, figure.count);
  return out;
}

double figure_value(const ProbeFigure& figure, const ProbeFigure& beside, schema::Objective objective) {
  switch (objective) {
    case schema::Objective::latency: return figure.median_ns;
    case schema::Objective::throughput:
      return figure.ns_per_item > 0 && beside.ns_per_item > 0 ? figure.ns_per_item : figure.median_ns;
    case schema::Objective::p99:
      return percentile_value(figure, stats::supported_tail(std::min(figure.count, beside.count)));
  }
  return 0;
}

std::optional<double> slow_down_ratio(const ProbeFigure& baseline, const ProbeFigure& probe,
                                      schema::Objective objective) {
  const double before = figure_value(baseline, probe, objective);
  const double now = figure_value(probe, baseline, objective);
  if (baseline.count <= 0 || probe.count <= 0 || before <= 0 || now <= 0) return std::nullopt;
  return now / before;
}

RL_DEFINE_JSON(ProbeFigure, count, median_ns, p90_ns, p95_ns, p99_ns, ns_per_item)

}  // namespace ridgeline::analysis
