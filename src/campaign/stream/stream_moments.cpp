// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/stream_moments.hpp"

#include <span>
#include <utility>

#include "stats/quantile.hpp"

namespace ridgeline::campaign {
namespace {

constexpr std::size_t kMostMoments = 4096;
constexpr double kMomentS = 0.95;    ///< a second of statuses that come every 200 ms, not exactly
constexpr double kLeastPart = 0.05;  ///< of a second: less tells nothing of a rate

/// Of moments equally long.
schema::StreamMoment joined(std::span<const schema::StreamMoment> moments) {
  auto out = moments.back();
  const auto mean = [&](double schema::StreamMoment::*member) {
    double sum = 0;
    for (const auto& moment : moments) sum += moment.*member;
    return sum / static_cast<double>(moments.size());
  };
  const auto known_mean = [&](std::optional<double> schema::StreamMoment::*member) {
    double sum = 0;
    int known = 0;
    for (const auto& moment : moments) {
      sum += (moment.*member).value_or(0);
      known += moment.*member ? 1 : 0;
    }
    return known > 0 ? std::optional(sum / known) : std::nullopt;
  };
  out.offered_per_s = mean(&schema::StreamMoment::offered_per_s);
  out.delivered_per_s = mean(&schema::StreamMoment::delivered_per_s);
  out.dropped_per_s = mean(&schema::StreamMoment::dropped_per_s);
  out.p50 = known_mean(&schema::StreamMoment::p50);
  out.p95 = known_mean(&schema::StreamMoment::p95);
  out.p99 = known_mean(&schema::StreamMoment::p99);
  return out;
}

}  // namespace

void StreamMoments::add_frame(double latency_ms) { latency_.add(static_cast<std::int64_t>(latency_ms * 1e6)); }

void StreamMoments::add(const schema::StreamStatus& status, const std::optional<schema::StreamGpu>& gpu) {
  gpu_ = gpu;
  if (status.elapsed_s - before_.elapsed_s >= kMomentS) close(status);
}

void StreamMoments::close(const schema::StreamStatus& status) {
  const double seconds = status.elapsed_s - before_.elapsed_s;
  const auto rate = [&](std::int64_t now, std::int64_t then) { return static_cast<double>(now - then) / seconds; };
  const bool is_first = before_.elapsed_s == 0;
  schema::StreamMoment now{status.elapsed_s,
                           rate(status.offered, before_.offered),
                           rate(status.delivered, before_.delivered),
                           rate(status.all_dropped(), before_.all_dropped()),
                           static_cast<double>(status.queued),
                           {},
                           {},
                           {},
                           gpu_};
  auto recent = now;
  for (auto& [quantile, member, latency] : windows_) {
    latency.merge(latency_);
    // A median of few frames is still one of them.
    const auto needed = quantile > 0.5 ? stats::samples_needed(quantile) : 1;
    if (static_cast<std::int64_t>(latency.count()) >= needed)
      now.*member = static_cast<double>(latency.quantile(quantile)) * 1e-6;
    recent.*member = now.*member || quantile == 0.5 ? now.*member : recent_.*member;
    if (now.*member || is_first) latency = {};
  }
  recent_ = recent;
  latency_ = {};
  before_ = status;
  pending_.push_back(now);
  if (pending_.size() >= stride_) keep();
}

void StreamMoments::keep() {
  moments_.push_back(joined(pending_));
  pending_.clear();
  if (moments_.size() <= kMostMoments) return;
  std::vector<schema::StreamMoment> half;
  for (std::size_t i = 0; i + 1 < moments_.size(); i += 2) half.push_back(joined(std::span(moments_).subspan(i, 2)));
  moments_ = std::move(half);
  stride_ *= 2;
}

std::vector<schema::StreamMoment> StreamMoments::take(const schema::StreamStatus& last) {
  if (last.elapsed_s - before_.elapsed_s >= kLeastPart) close(last);
  if (!pending_.empty()) keep();
  return std::move(moments_);
}

}  // namespace ridgeline::campaign
