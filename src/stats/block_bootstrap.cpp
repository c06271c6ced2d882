// SPDX-License-Identifier: Apache-2.0
#include "stats/block_bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "stats/mean.hpp"

namespace ridgeline::stats {
namespace {

constexpr std::size_t kBins = 1000;
constexpr int kResamples = 300;

}  // namespace

BlockBootstrap::BlockBootstrap(const std::vector<double>& samples, std::optional<double> q)
    : q_(q), blocks_(std::clamp<std::size_t>(samples.size() / 4, 1, kMostBlocks)), sums_(blocks_), counts_(blocks_) {
  std::vector<std::pair<double, std::size_t>> sorted;
  sorted.reserve(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t block = i * blocks_ / samples.size();
    sorted.emplace_back(samples[i], block);
    sums_[block] += samples[i];
    ++counts_[block];
  }
  if (!q_) return;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t bins = std::min(kBins, sorted.size());
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const std::size_t begin = bin * sorted.size() / bins;
    const std::size_t end = (bin + 1) * sorted.size() / bins;
    bins_.push_back({sorted[(begin + end) / 2].first, std::vector<double>(blocks_)});
    for (std::size_t i = begin; i < end; ++i) ++bins_.back().counts[sorted[i].second];
  }
}

double BlockBootstrap::log_error(base::Random& random) const {
  std::vector<double> logs;
  for (int resample = 0; resample < kResamples; ++resample) {
    std::vector<double> weight(blocks_);
    for (std::size_t draw = 0; draw < blocks_; ++draw) ++weight[random.below(blocks_)];
    logs.push_back(std::log(cost(weight)));
  }
  // The plug-in variance of a resampled mean is short by (blocks - 1) / blocks.
  const auto count = static_cast<double>(blocks_);
  return std::sqrt(variance(logs) * count / (count - 1));
}

double BlockBootstrap::cost(const std::vector<double>& weight) const {
  const double total = std::inner_product(counts_.begin(), counts_.end(), weight.begin(), 0.0);
  if (!q_) return std::inner_product(sums_.begin(), sums_.end(), weight.begin(), 0.0) / total;
  double below = 0;
  for (const auto& bin : bins_) {
    below += std::inner_product(bin.counts.begin(), bin.counts.end(), weight.begin(), 0.0);
    if (below >= *q_ * total) return bin.value;
  }
  return bins_.back().value;
}

}  // namespace ridgeline::stats
