// SPDX-License-Identifier: Apache-2.0
#include "analysis/loss_gate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ridgeline::analysis {
namespace {

constexpr std::size_t kLeastLosses = 5;  ///< of both curves

/// Mean distance as a share of the first curve's mean magnitude.
double distance(const LossCurve& one, const LossCurve& other, std::size_t count) {
  double apart = 0;
  double size = 0;
  for (std::size_t i = 0; i < count; ++i) {
    apart += std::abs(one.losses[i] - other.losses[i]);
    size += std::abs(one.losses[i]);
  }
  return size > 0 ? apart / size : apart > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

std::size_t shortest(const std::vector<LossCurve>& curves) {
  std::size_t count = std::numeric_limits<std::size_t>::max();
  for (const auto& curve : curves) count = std::min(count, curve.losses.size());
  return count;
}

bool any_lost(const std::vector<LossCurve>& curves) {
  return std::any_of(curves.begin(), curves.end(), [](const auto& curve) { return curve.lost_at_step.has_value(); });
}

}  // namespace

std::optional<LossCurve> loss_curve(const schema::TrainingMeasurement& measurement, int passes) {
  const auto& resources = measurement.resources;
  if (!resources.losses) return std::nullopt;
  LossCurve out;
  const auto each = static_cast<std::size_t>(std::max(1, passes));
  for (std::size_t at = 0; at + each <= resources.losses->size(); at += each) {
    double sum = 0;
    for (std::size_t i = at; i < at + each; ++i) sum += (*resources.losses)[i];
    out.losses.push_back(sum / static_cast<double>(each));
  }
  out.lost_at_step = resources.lost_at_step;
  return out;
}

LossComparison compare_losses(const std::vector<LossCurve>& without, const std::vector<LossCurve>& with,
                              double rounding) {
  using Verdict = LossComparison::Verdict;
  LossComparison out;
  out.allowed = rounding;
  if (without.empty() || with.empty()) return out;
  if (any_lost(without)) {
    out.verdict = Verdict::lost_without;
    return out;
  }
  if (any_lost(with)) {
    out.verdict = Verdict::lost;
    for (const auto& curve : with)
      if (const auto at = curve.lost_at_step) out.lost_at_step = std::min(out.lost_at_step.value_or(*at), *at);
    return out;
  }
  const auto count = std::min(shortest(without), shortest(with));
  if (count < kLeastLosses) return out;
  out.steps = static_cast<std::int64_t>(count);
  for (std::size_t i = 0; i < without.size(); ++i)
    for (std::size_t j = i + 1; j < without.size(); ++j)
      out.allowed = std::max(out.allowed, distance(without[i], without[j], count));
  // One whose counterpart was not made has no other to be like.
  for (std::size_t i = 0; i < std::min(without.size(), with.size()); ++i)
    out.difference = std::max(out.difference, distance(without[i], with[i], count));
  out.verdict = out.difference <= out.allowed ? Verdict::same : Verdict::differs;
  return out;
}

}  // namespace ridgeline::analysis
