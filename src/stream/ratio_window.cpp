// SPDX-License-Identifier: Apache-2.0
#include "stream/ratio_window.hpp"

#include <algorithm>
#include <cmath>

namespace ridgeline::stream {
namespace {

// Of fewer, one value says too much about the spread to be left out.
constexpr std::size_t kEnoughToTrim = 20;
// Standard deviations of a normal distribution below which 99.5 % are. Under overload every frame is launched with
// hardly more time left than the high value, so more than 1 % of them would be late by a lower one.
constexpr double kDeviations = 2.576;

}  // namespace

void RatioWindow::count_in(const Ratio& ratio, double sign) noexcept {
  sum_ += sign * ratio.value;
  log_sum_ += sign * ratio.log;
  log_squares_ += sign * ratio.log * ratio.log;
}

void RatioWindow::add(double ratio) noexcept {
  if (count_ == kSize) forget_one();
  auto& place = recent_[(first_ + count_) % kSize];
  place = {ratio, std::log(ratio)};
  auto* const end = sorted_.data() + count_;
  auto* const at = std::upper_bound(sorted_.data(), end, ratio);
  std::copy_backward(at, end, end + 1);
  *at = ratio;
  ++count_;
  count_in(place, 1);
}

void RatioWindow::forget_one() noexcept {
  if (count_ == 0) return;
  const auto& oldest = recent_[first_];
  auto* const end = sorted_.data() + count_;
  auto* const at = std::lower_bound(sorted_.data(), end, oldest.value);
  std::copy(at + 1, end, at);
  count_in(oldest, -1);
  first_ = (first_ + 1) % kSize;
  --count_;
  if (first_ != 0) return;
  sum_ = log_sum_ = log_squares_ = 0;  // once a round, so that rounding does not add up
  for (std::size_t i = 0; i < count_; ++i) count_in(recent_[i], 1);
}

std::size_t RatioWindow::kept() const noexcept { return count_ - (count_ >= kEnoughToTrim ? 1 : 0); }

double RatioWindow::mean() const noexcept {
  if (count_ == 0) return 1;
  const double outlier = kept() < count_ ? sorted_[kept()] : 0;
  return (sum_ - outlier) / static_cast<double>(kept());
}

double RatioWindow::high() const noexcept {
  if (count_ == 0) return 1;
  const double outlier = kept() < count_ ? std::log(sorted_[kept()]) : 0;
  const auto n = static_cast<double>(kept());
  const double mean = (log_sum_ - outlier) / n;
  const double variance = (log_squares_ - outlier * outlier) / n - mean * mean;
  return std::max(sorted_[kept() - 1], std::exp(mean + kDeviations * std::sqrt(std::max(variance, 0.0))));
}

}  // namespace ridgeline::stream
