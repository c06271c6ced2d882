// SPDX-License-Identifier: Apache-2.0
#include "measure/steadiness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "stats/quantile.hpp"

namespace ridgeline::measure {
namespace {

constexpr std::size_t kThirds = 3;
constexpr std::size_t kMaxBatchesPerThird = 5;
// Half-width of what noise explains, in standard errors of a difference of two thirds: rare enough to be passed at the
// first look nearly always, so that a steady workload is not warmed up for longer than it needs.
constexpr double kAgreeErrors = 3;
constexpr double kFallErrors = 1.5;
constexpr double kDeviationsPerMad = 1.4826;   // of a normal distribution
constexpr double kMedianErrorFactor = 1.2533;  // standard error of a median against that of a mean, normal case

}  // namespace

Steadiness check_steadiness(std::span<const double> samples, double tolerance) {
  if (samples.size() < kSteadyMinSamples) return Steadiness::unknown;
  // Later half, but never less than the minimum: a transient in the earlier half is what warm-up is for.
  const auto later = samples.last(std::max<std::size_t>(kSteadyMinSamples, samples.size() / 2));
  const auto batches = std::min(kMaxBatchesPerThird, later.size() / kThirds);
  const auto size = later.size() / (kThirds * batches);
  const auto used = later.last(size * kThirds * batches);

  std::array<double, kThirds> level{};
  std::vector<double> deviations;
  for (std::size_t third = 0; third < kThirds; ++third) {
    std::vector<double> medians;
    for (std::size_t batch = 0; batch < batches; ++batch) {
      const auto part = used.subspan((third * batches + batch) * size, size);
      medians.push_back(stats::median({part.begin(), part.end()}));
    }
    level[third] = stats::median(medians);
    for (const double value : medians) deviations.push_back(std::abs(value - level[third]));
  }
  // Deviations are taken from a median of few values, which fits them: n-1 for n.
  const double shrink =
      std::sqrt(static_cast<double>(batches) / static_cast<double>(std::max<std::size_t>(1, batches - 1)));
  const double scatter = kDeviationsPerMad * stats::median(deviations) * shrink;
  const double error = scatter * kMedianErrorFactor * std::sqrt(2.0 / static_cast<double>(batches));

  const auto [low, high] = std::minmax_element(level.begin(), level.end());
  const double reference = level.back();
  if (*high - *low > std::max(tolerance * reference, kAgreeErrors * error)) return Steadiness::moving;
  const bool falling = level[0] > level[1] && level[1] > level[2];
  if (falling && level[0] - level[2] > std::max(tolerance / 2 * reference, kFallErrors * error))
    return Steadiness::moving;
  return Steadiness::steady;
}

}  // namespace ridgeline::measure
