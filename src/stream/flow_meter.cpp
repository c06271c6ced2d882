// SPDX-License-Identifier: Apache-2.0
#include "stream/flow_meter.hpp"

#include <numeric>

namespace ridgeline::stream {
namespace {

double sum_ns(const stats::LatencyHistogram& histogram) {
  return histogram.mean() * static_cast<double>(histogram.count());
}

}  // namespace

std::uint64_t FlowCounters::all_dropped() const noexcept {
  return std::accumulate(dropped.begin(), dropped.end(), std::uint64_t{0});
}

void FlowMeter::advance(std::int64_t now_ns) {
  const auto elapsed = static_cast<double>(now_ns - last_ns_);
  inside_times_ns_ += elapsed * static_cast<double>(inside_);
  if (busy_ > 0) busy_ns_ += elapsed;
  worker_busy_ns_ += elapsed * busy_;
  last_ns_ = now_ns;
}

void FlowMeter::enter(std::int64_t now_ns) {
  if (counters_.offered == 0) first_ns_ = last_ns_ = now_ns;
  advance(now_ns);
  ++counters_.offered;
  ++inside_;
}

void FlowMeter::launch(std::uint32_t frames, std::int64_t now_ns) {
  advance(now_ns);
  if (frames >= batches_.size()) batches_.resize(frames + 1);
  ++batches_[frames];
  ++started_;
  executed_ += frames;
  ++busy_;
}

void FlowMeter::complete(std::int64_t now_ns) {
  advance(now_ns);
  --busy_;
}

void FlowMeter::leave(const FrameResult& result) {
  advance(result.left_ns);
  --inside_;
  const auto& frame = result.frame;
  time_inside_ns_ += static_cast<double>(result.left_ns - frame.entered_ns);
  if (result.dropped) {
    ++counters_.dropped[static_cast<std::size_t>(*result.dropped)];
    return;
  }
  ++counters_.delivered;
  if (frame.deadline_ns == 0 || result.left_ns <= frame.deadline_ns) ++counters_.in_time;
  stages_.late.add(frame.entered_ns - frame.intended_ns);
  stages_.queue.add(result.launched_ns - frame.entered_ns);
  stages_.service.add(result.done_ns - result.launched_ns);
  stages_.order.add(result.left_ns - result.done_ns);
  stages_.latency.add(result.left_ns - frame.intended_ns);
}

double FlowMeter::mean_batch() const noexcept {
  return started_ == 0 ? 0 : static_cast<double>(executed_) / static_cast<double>(started_);
}

double FlowMeter::busy_ratio() const noexcept { return span_ns() == 0 ? 0 : busy_ns_ / static_cast<double>(span_ns()); }

double FlowMeter::mean_busy_workers() const noexcept {
  return span_ns() == 0 ? 0 : worker_busy_ns_ / static_cast<double>(span_ns());
}

double FlowMeter::per_s(std::uint64_t frames) const noexcept {
  return span_ns() == 0 ? 0 : static_cast<double>(frames) / (static_cast<double>(span_ns()) * 1e-9);
}

double FlowMeter::goodput_per_s() const noexcept { return per_s(counters_.in_time); }

double FlowMeter::delivered_per_s() const noexcept { return per_s(counters_.delivered); }

SelfCheck FlowMeter::counts(std::uint64_t in_flight) const {
  return check_counts(counters_.offered, counters_.delivered, counters_.all_dropped(), in_flight);
}

SelfCheck FlowMeter::littles_law() const {
  const auto left = counters_.delivered + counters_.all_dropped();
  const double mean_inside = span_ns() == 0 ? 0 : inside_times_ns_ / static_cast<double>(span_ns());
  return check_little(mean_inside, per_s(left), left == 0 ? 0 : time_inside_ns_ / static_cast<double>(left));
}

SelfCheck FlowMeter::stage_sum() const {
  return check_stages(sum_ns(stages_.late) + sum_ns(stages_.queue) + sum_ns(stages_.service) + sum_ns(stages_.order),
                      sum_ns(stages_.latency));
}

}  // namespace ridgeline::stream
