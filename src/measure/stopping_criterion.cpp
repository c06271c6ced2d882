// SPDX-License-Identifier: Apache-2.0
#include "measure/stopping_criterion.hpp"

#include <algorithm>

#include "stats/mean.hpp"
#include "stats/median_interval.hpp"

namespace ridgeline::measure {
namespace {

constexpr std::size_t kBatches = 10;
constexpr std::int64_t kFirstStopLook = stats::kLeastForMedian;
constexpr double kLookGrowth = 1.3;

}  // namespace

StoppingCriterion::StoppingCriterion(const Options& options) : options_(options) {
  const auto& plan = options_.plan;
  run_limit_ = plan.runs ? *plan.runs : std::max<std::int64_t>(1, plan.max_runs / std::max(1, options_.concurrency));
}

std::int64_t StoppingCriterion::next_round(std::int64_t done_per_caller) const noexcept {
  const auto& plan = options_.plan;
  std::int64_t next = 0;
  if (done_per_caller == 0) {
    next = std::max<std::int64_t>(1, plan.min_runs);
    if (options_.stop_above_ns)
      next = std::min(next, kFirstStopLook);
    else if (plan.runs)
      next = run_limit_;
    else if (options_.expected_latency_ns > 0)
      next = std::max(next,
                      static_cast<std::int64_t>(std::min(plan.min_time_s * 1e9 / options_.expected_latency_ns, 1e9)));
  } else if (plan.runs && !options_.stop_above_ns) {
    next = run_limit_;
  } else {
    next = std::max(done_per_caller + 4, static_cast<std::int64_t>(static_cast<double>(done_per_caller) * kLookGrowth));
  }
  return std::max<std::int64_t>(1, std::min(next, run_limit_) - done_per_caller);
}

std::optional<double> StoppingCriterion::time_left_s(double elapsed_s) const noexcept {
  if (options_.plan.runs) return std::nullopt;
  return std::max(0.0, options_.plan.max_time_s - elapsed_s);
}

bool StoppingCriterion::clearly_lost(std::span<const double> samples) const {
  if (!options_.stop_above_ns) return false;
  if (!options_.throughput) return interval_ && interval_->low > *options_.stop_above_ns;
  if (samples.size() < 2 * kBatches) return false;
  const auto mean = stats::batch_mean(samples, kBatches);
  return mean && mean->low / (options_.concurrency * options_.items_per_inference) > *options_.stop_above_ns;
}

std::optional<schema::StopReason> StoppingCriterion::decide(std::span<const double> samples,
                                                            std::int64_t done_per_caller, double elapsed_s) {
  const auto& plan = options_.plan;
  interval_ = stats::median_interval(samples, scratch_);
  if (plan.runs && done_per_caller >= run_limit_) return schema::StopReason::fixed_runs;
  if (clearly_lost(samples)) return schema::StopReason::stopped_early;
  if (plan.runs) return std::nullopt;
  if (interval_ && done_per_caller >= plan.min_runs && elapsed_s >= plan.min_time_s) {
    const double allowed = plan.target_interval_ratio * interval_->value;
    if (interval_->high - interval_->value <= allowed && interval_->value - interval_->low <= allowed)
      return schema::StopReason::interval_reached;
  }
  if (elapsed_s >= plan.max_time_s) return schema::StopReason::time_budget;
  if (done_per_caller >= run_limit_) return schema::StopReason::run_limit;
  return std::nullopt;
}

}  // namespace ridgeline::measure
