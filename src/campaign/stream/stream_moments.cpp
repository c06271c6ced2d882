// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/stream_moments.hpp"

#include <utility>

namespace ridgeline::campaign {
namespace {

constexpr std::size_t kMostMoments = 4096;
constexpr double kLeastPart = 0.05;  ///< of a second: less tells nothing of a rate

}  // namespace

void StreamMoments::add(const schema::StreamStatus& status) {
  if (status.elapsed_s - before_.elapsed_s >= interval_s_) close(status);
}

void StreamMoments::close(const schema::StreamStatus& status) {
  const double seconds = status.elapsed_s - before_.elapsed_s;
  const auto rate = [&](std::int64_t now, std::int64_t then) { return static_cast<double>(now - then) / seconds; };
  moments_.push_back({status.elapsed_s, rate(status.offered, before_.offered),
                      rate(status.delivered, before_.delivered), rate(status.all_dropped(), before_.all_dropped()),
                      static_cast<double>(status.queued)});
  before_ = status;
  if (moments_.size() > kMostMoments) thin();
}

void StreamMoments::thin() {
  std::vector<schema::StreamMoment> half;
  for (std::size_t i = 0; i + 1 < moments_.size(); i += 2) {
    auto both = moments_[i + 1];
    both.offered_per_s = (both.offered_per_s + moments_[i].offered_per_s) / 2;
    both.delivered_per_s = (both.delivered_per_s + moments_[i].delivered_per_s) / 2;
    both.dropped_per_s = (both.dropped_per_s + moments_[i].dropped_per_s) / 2;
    half.push_back(both);
  }
  moments_ = std::move(half);
  interval_s_ *= 2;
}

std::vector<schema::StreamMoment> StreamMoments::take(const schema::StreamStatus& last) {
  if (last.elapsed_s - before_.elapsed_s >= kLeastPart) close(last);
  return std::move(moments_);
}

}  // namespace ridgeline::campaign
