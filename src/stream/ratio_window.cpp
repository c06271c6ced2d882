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

void RatioWindow::count_in(double ratio, double sign) noexcept {
  const double log = std::log(ratio);
  sum_ += sign * ratio;
  log_sum_ += sign * log;
  log_squares_ += sign * log * log;
}

void RatioWindow::add(double ratio) noexcept {
  if (count_ == kSize) forget_one();
  recent_[(first_ + count_) % kSize] = ratio;
  auto* const end = sorted_.data() + count_;
  auto* const at = std::upper_bound(sorted_.data(), end, ratio);
  std::copy_backward(at, end, end + 1);
  *at = ratio;
  ++count_;
  count_in(ratio, 1);
  summarize();
}

void RatioWindow::forget_one() noexcept {
  if (count_ == 0) return;
  auto* const end = sorted_.data() + count_;
  auto* const at = std::lower_bound(sorted_.data(), end, recent_[first_]);
  count_in(*at, -1);
  std::copy(at + 1, end, at);
  first_ = (first_ + 1) % kSize;
  --count_;
  summarize();
}

void RatioWindow::summarize() noexcept {
  if (count_ == 0) {
    mean_ = high_ = 1;
    return;
  }
  if (first_ == 0) {  // once a round, so that rounding does not add up
    sum_ = log_sum_ = log_squares_ = 0;
    for (std::size_t i = 0; i < count_; ++i) count_in(sorted_[i], 1);
  }
  const bool trim = count_ >= kEnoughToTrim;
  const std::size_t kept = count_ - (trim ? 1 : 0);
  const double outlier = trim ? sorted_[kept] : 0;
  const double outlier_log = trim ? std::log(outlier) : 0;
  const auto n = static_cast<double>(kept);
  mean_ = (sum_ - outlier) / n;
  const double log_mean = (log_sum_ - outlier_log) / n;
  const double log_variance = (log_squares_ - outlier_log * outlier_log) / n - log_mean * log_mean;
  const double deviation = std::sqrt(std::max(log_variance, 0.0));
  high_ = std::max(sorted_[kept - 1], std::exp(log_mean + kDeviations * deviation));
}

}  // namespace ridgeline::stream
