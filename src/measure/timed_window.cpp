// SPDX-License-Identifier: Apache-2.0
#include "measure/timed_window.hpp"

#include <algorithm>
#include <utility>

namespace ridgeline::measure {

TimedWindow::TimedWindow(ConcurrentRunner& runner, gpu::RoundWatch* watch, double budget_s)
    : runner_(runner), watch_(watch), guard_(budget_s) {
  runner_.clear_window();
  if (watch_ == nullptr) return;
  neighbours_before_ = watch_->neighbours();
  watch_->begin_timing();
  watch_->begin_part();
}

std::optional<base::Nanoseconds> TimedWindow::round_limit(std::optional<double> left_s) const {
  if (watch_ == nullptr) return left_s ? std::optional(base::from_seconds(*left_s)) : std::nullopt;
  return base::from_seconds(std::min(left_s.value_or(kLongestRoundS), kLongestRoundS));
}

bool TimedWindow::short_of(std::int64_t target, std::optional<double> left_s) const {
  return watch_ != nullptr && done_per_caller() < target && left_s.value_or(1) > 0;
}

void TimedWindow::add_round() {
  auto& part = parts_.back();
  const auto before = samples_.size();
  runner_.append_latencies(samples_);
  runner_.add_to_window();
  part.count += samples_.size() - before;
  part.done_per_caller += runner_.counted_per_caller();
  part.elapsed_s += base::to_seconds(runner_.elapsed());
  inferences_ += static_cast<double>(samples_.size() - before);
  if (watch_ != nullptr && part.elapsed_s >= kLeastPartS) static_cast<void>(close_part());
}

bool TimedWindow::settle() { return watch_ == nullptr || parts_.back().count == 0 || close_part(); }

bool TimedWindow::close_part() {
  const auto reading = watch_->end_part();
  parts_.back().spans = runner_.take_window();
  guard_.add(parts_.back().elapsed_s, reading);
  const bool unchanged = apply_verdicts();
  parts_.emplace_back();
  watch_->begin_part();
  return unchanged;
}

bool TimedWindow::apply_verdicts() {
  bool unchanged = true;
  for (std::size_t i = 0; i < parts_.size(); ++i) unchanged = unchanged && guard_.kept(i) == parts_[i].kept;
  if (unchanged) return true;
  std::vector<double> counted;
  auto next = samples_.begin();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    auto& part = parts_[i];
    std::vector<double> own = std::move(part.aside);
    part.aside.clear();
    if (part.kept) {
      const auto end = next + static_cast<std::ptrdiff_t>(part.count);
      own.assign(next, end);
      next = end;
    }
    part.kept = guard_.kept(i);
    if (part.kept)
      counted.insert(counted.end(), own.begin(), own.end());
    else
      part.aside = std::move(own);
  }
  samples_ = std::move(counted);
  return false;
}

void TimedWindow::finish(double items_per_inference, std::vector<schema::QualityFlag>& flags) {
  if (watch_ == nullptr) return;
  watch_->end_timing({inferences_ * items_per_inference, elapsed_s(), guard_.discarded_s(),
                      static_cast<std::int64_t>(guard_.discarded())});
  if (auto flag = guard_.flag()) flags.push_back(std::move(*flag));
  if (auto flag = judge_neighbours(neighbours_before_, watch_->neighbours())) flags.push_back(std::move(*flag));
}

std::int64_t TimedWindow::done_per_caller() const noexcept {
  std::int64_t done = 0;
  for (const auto& part : parts_)
    if (part.kept) done += part.done_per_caller;
  return done;
}

double TimedWindow::elapsed_s() const noexcept {
  double elapsed = 0;
  for (const auto& part : parts_)
    if (part.kept) elapsed += part.elapsed_s;
  return elapsed;
}

double TimedWindow::window_ns() const {
  auto spans = runner_.window();  // of the open part
  for (const auto& part : parts_) {
    if (!part.kept || part.spans.empty()) continue;
    for (std::size_t caller = 0; caller < spans.size(); ++caller) {
      spans[caller].ns += part.spans[caller].ns;
      spans[caller].count += part.spans[caller].count;
    }
  }
  return ConcurrentRunner::window_ns(spans);
}

}  // namespace ridgeline::measure
