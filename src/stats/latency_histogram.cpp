// SPDX-License-Identifier: Apache-2.0
#include "stats/latency_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ridgeline::stats {
namespace {

// Values below 2 * kHalf are their own bin; above, each power of two has kHalf bins of equal width.
constexpr unsigned kHalfBits = 10;
constexpr std::uint64_t kHalf = 1ULL << kHalfBits;

std::size_t bin_of(std::uint64_t value) noexcept {
  const auto width = static_cast<unsigned>(std::bit_width(value));
  if (width <= kHalfBits + 1) return value;
  const unsigned shift = width - (kHalfBits + 1);
  return (static_cast<std::size_t>(shift) << kHalfBits) + (value >> shift);
}

std::uint64_t middle_of(std::size_t bin) noexcept {
  if (bin < 2 * kHalf) return bin;
  const auto shift = static_cast<unsigned>(bin >> kHalfBits) - 1;
  const std::uint64_t low = (bin - (static_cast<std::size_t>(shift) << kHalfBits)) << shift;
  return low + (1ULL << shift) / 2;
}

}  // namespace

void LatencyHistogram::add(std::int64_t ns, std::uint64_t times) {
  if (times == 0) return;
  const std::int64_t value = std::max<std::int64_t>(ns, 0);
  const std::size_t bin = bin_of(static_cast<std::uint64_t>(value));
  if (bin >= counts_.size()) counts_.resize((bin / kHalf + 1) * kHalf);
  counts_[bin] += times;
  count_ += times;
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value) * static_cast<double>(times);
}

void LatencyHistogram::merge(const LatencyHistogram& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t bin = 0; bin < other.counts_.size(); ++bin) counts_[bin] += other.counts_[bin];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

std::int64_t LatencyHistogram::quantile(double q) const noexcept {
  if (count_ == 0) return 0;
  const auto rank = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_))));
  std::uint64_t below = 0;
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
    below += counts_[bin];
    if (below >= rank) return std::min(static_cast<std::int64_t>(middle_of(bin)), max_);
  }
  return max_;
}

std::uint64_t LatencyHistogram::count_above(std::int64_t ns) const noexcept {
  if (ns < 0) return count_;
  std::uint64_t above = 0;
  for (std::size_t bin = bin_of(static_cast<std::uint64_t>(ns)) + 1; bin < counts_.size(); ++bin) above += counts_[bin];
  return above;
}

double LatencyHistogram::mean() const noexcept { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

}  // namespace ridgeline::stats
