// SPDX-License-Identifier: Apache-2.0
#include "measure/stopping_criterion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <boost/math/distributions/students_t.hpp>

namespace ridgeline::measure {
namespace {

constexpr double kNormal95 = 1.959964;
constexpr double kStudent95With9Degrees = 2.262157;
constexpr int kBatches = 10;
constexpr std::int64_t kFirstAbandonLook = 8;  // the fewest samples that have a median interval
constexpr double kLookGrowth = 1.3;
// Correlation so strong that the normal widening breaks down; sqrt((1+r)/(1-r)) is 4.4 there.
constexpr double kMaxCorrelation = 0.9;

/// Of the indicator "above the median", which alone decides the variance of a sample median.
double sign_correlation(std::span<const double> samples, double median) {
  double together = 0;
  double total = 0;
  double previous = 0;
  for (const double sample : samples) {
    const double sign = sample > median ? 1 : (sample < median ? -1 : 0);
    together += sign * previous;
    total += sign * sign;
    previous = sign;
  }
  return total > 0 ? std::clamp(together / total, 0.0, kMaxCorrelation) : 0;
}

}  // namespace

std::optional<IntervalEstimate> median_interval(std::span<const double> samples, std::vector<double>& scratch) {
  const auto count = static_cast<std::int64_t>(samples.size());
  if (count < kFirstAbandonLook) return std::nullopt;
  scratch.assign(samples.begin(), samples.end());
  const auto at = [&](std::int64_t rank, std::int64_t from) {  // rank from 1; earlier ranks are already in place
    const auto nth = scratch.begin() + (rank - 1);
    std::nth_element(scratch.begin() + from, nth, scratch.end());
    return *nth;
  };
  const auto middle = (count + 1) / 2;
  double median = at(middle, 0);
  if (count % 2 == 0) median = (median + *std::min_element(scratch.begin() + middle, scratch.end())) / 2;
  const double correlation = sign_correlation(samples, median);
  const double n = static_cast<double>(count);
  const double half_width = kNormal95 * std::sqrt(n * (1 + correlation) / (1 - correlation));
  const auto low_rank = static_cast<std::int64_t>(std::floor((n - half_width) / 2));
  if (low_rank < 1) return std::nullopt;
  // The lower part is partitioned below `middle`, so the low rank is searched in it alone.
  const auto low = scratch.begin() + (low_rank - 1);
  std::nth_element(scratch.begin(), low, scratch.begin() + middle);
  IntervalEstimate estimate{median, *low, 0};
  estimate.high = at(count + 1 - low_rank, middle);
  return estimate;
}

double half_width(std::span<const double> samples, int estimated) {
  const double freedom = static_cast<double>(samples.size()) - estimated;
  if (freedom < 1) return std::numeric_limits<double>::infinity();
  const auto count = static_cast<double>(samples.size());
  double mean = 0;
  for (const double sample : samples) mean += sample / count;
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  const boost::math::students_t student(freedom);
  return boost::math::quantile(student, 0.975) * std::sqrt(squares / freedom / count);
}

std::optional<IntervalEstimate> mean_interval(std::span<const double> samples) {
  const auto size = samples.size() / kBatches;
  if (size < 2) return std::nullopt;
  std::array<double, kBatches> means{};
  double mean = 0;
  for (std::size_t batch = 0; batch < kBatches; ++batch) {
    double sum = 0;
    for (const double sample : samples.subspan(batch * size, size)) sum += sample;
    means[batch] = sum / static_cast<double>(size);
    mean += means[batch] / kBatches;
  }
  double squares = 0;
  for (const double value : means) squares += (value - mean) * (value - mean);
  const double half = kStudent95With9Degrees * std::sqrt(squares / (kBatches - 1) / kBatches);
  return IntervalEstimate{mean, mean - half, mean + half};
}

StoppingCriterion::StoppingCriterion(const Options& options) : options_(options) {
  const auto& plan = options_.plan;
  run_limit_ = plan.runs ? *plan.runs : std::max<std::int64_t>(1, plan.max_runs / std::max(1, options_.lanes));
}

std::int64_t StoppingCriterion::next_round(std::int64_t done_a_lane) const noexcept {
  const auto& plan = options_.plan;
  std::int64_t next = 0;
  if (done_a_lane == 0) {
    next = std::max<std::int64_t>(1, plan.min_runs);
    if (options_.abandon_above_ns)
      next = std::min(next, kFirstAbandonLook);
    else if (plan.runs)
      next = run_limit_;
    else if (options_.expected_latency_ns > 0)
      next = std::max(next,
                      static_cast<std::int64_t>(std::min(plan.min_time_s * 1e9 / options_.expected_latency_ns, 1e9)));
  } else if (plan.runs && !options_.abandon_above_ns) {
    next = run_limit_;
  } else {
    next = std::max(done_a_lane + 4, static_cast<std::int64_t>(static_cast<double>(done_a_lane) * kLookGrowth));
  }
  return std::max<std::int64_t>(1, std::min(next, run_limit_) - done_a_lane);
}

std::optional<double> StoppingCriterion::time_left_s(double elapsed_s) const noexcept {
  if (options_.plan.runs) return std::nullopt;
  return std::max(0.0, options_.plan.max_time_s - elapsed_s);
}

bool StoppingCriterion::clearly_lost(std::span<const double> samples) const {
  if (!options_.abandon_above_ns) return false;
  if (!options_.throughput) return interval_ && interval_->low > *options_.abandon_above_ns;
  const auto mean = mean_interval(samples);
  return mean && mean->low / (options_.lanes * options_.items_per_inference) > *options_.abandon_above_ns;
}

std::optional<schema::StopReason> StoppingCriterion::decide(std::span<const double> samples, std::int64_t done_a_lane,
                                                            double elapsed_s) {
  const auto& plan = options_.plan;
  interval_ = median_interval(samples, scratch_);
  if (plan.runs && done_a_lane >= run_limit_) return schema::StopReason::fixed_runs;
  if (clearly_lost(samples)) return schema::StopReason::abandoned;
  if (plan.runs) return std::nullopt;
  if (interval_ && done_a_lane >= plan.min_runs && elapsed_s >= plan.min_time_s) {
    const double allowed = plan.target_interval_ratio * interval_->value;
    if (interval_->high - interval_->value <= allowed && interval_->value - interval_->low <= allowed)
      return schema::StopReason::interval_reached;
  }
  if (elapsed_s >= plan.max_time_s) return schema::StopReason::time_budget;
  if (done_a_lane >= run_limit_) return schema::StopReason::run_limit;
  return std::nullopt;
}

}  // namespace ridgeline::measure
