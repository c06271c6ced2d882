// SPDX-License-Identifier: Apache-2.0
#include "stream/ratio_window.hpp"

#include <algorithm>
#include <numeric>

namespace ridgeline::stream {
namespace {

// Of fewer, one value says too much about the spread to be left out.
constexpr std::size_t kEnoughToTrim = 20;

}  // namespace

void RatioWindow::add(double ratio) noexcept {
  if (count_ == kSize) forget_one();
  recent_[(first_ + count_) % kSize] = ratio;
  auto* const end = sorted_.data() + count_;
  auto* const at = std::upper_bound(sorted_.data(), end, ratio);
  std::copy_backward(at, end, end + 1);
  *at = ratio;
  ++count_;
  sum_ += ratio;
  summarize();
}

void RatioWindow::forget_one() noexcept {
  if (count_ == 0) return;
  auto* const end = sorted_.data() + count_;
  auto* const at = std::lower_bound(sorted_.data(), end, recent_[first_]);
  sum_ -= *at;
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
  // Once a round, so that rounding does not add up.
  if (first_ == 0) sum_ = std::accumulate(sorted_.data(), sorted_.data() + count_, 0.0);
  const std::size_t kept = count_ - (count_ >= kEnoughToTrim ? 1 : 0);
  mean_ = (sum_ - (kept < count_ ? sorted_[kept] : 0)) / static_cast<double>(kept);
  high_ = sorted_[kept - 1];
}

}  // namespace ridgeline::stream
