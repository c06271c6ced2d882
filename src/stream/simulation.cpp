// SPDX-License-Identifier: Apache-2.0
#include "stream/simulation.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace ridgeline::stream {
namespace {

std::string_view to_string(Admission admission) {
  switch (admission) {
    case Admission::accepted: return "accepted";
    case Admission::refused: return "refused";
    case Admission::must_wait: return "must_wait";
  }
  return "unknown";
}

class Simulation {
 public:
  Simulation(const SimulationOptions& options, std::span<const Arrival> arrivals, SimulatedDevice device,
             StreamScheduler scheduler)
      : options_(options),
        arrivals_(arrivals),
        device_(std::move(device)),
        scheduler_(std::move(scheduler)),
        random_(options.seed ^ kFailureStream) {}

  base::Result<FlowMeter> run() {
    for (auto next = next_event(); next; next = next_event()) {
      now_ns_ = *next;
      completed_.clear();
      left_.clear();
      device_.advance(now_ns_, completed_, left_);
      for (const auto worker : left_) scheduler_.leave_session(worker);
      for (const auto worker : completed_) RL_TRY(complete(worker));
      while (arrived_ < arrivals_.size() && arrivals_[arrived_].at_ns <= now_ns_) RL_TRY(arrive(arrivals_[arrived_++]));
      RL_TRY(poll());
      while (waiting_frames_ > 0) {
        RL_TRY_ASSIGN(const bool entered, admit_waiting());
        if (!entered) break;
        RL_TRY(poll());
      }
    }
    if (scheduler_.in_flight() > 0 || waiting_frames_ > 0)
      return base::fail(base::ErrorCode::internal, "{} frames never left", scheduler_.in_flight() + waiting_frames_);
    return scheduler_.meter();
  }

 private:
  static constexpr std::uint64_t kFailureStream = 0x5DEECE66DULL;  // apart from the device's random numbers

  template <typename... Args>
  void log(fmt::format_string<Args...> format, Args&&... args) {
    if (options_.log == nullptr) return;
    fmt::format_to(std::back_inserter(*options_.log), "{} ", now_ns_);
    fmt::format_to(std::back_inserter(*options_.log), format, std::forward<Args>(args)...);
    options_.log->push_back('\n');
  }

  [[nodiscard]] std::optional<std::int64_t> next_event() const {
    auto next = device_.next_event();
    const auto candidate = [&](std::int64_t at) { next = std::min(next.value_or(at), at); };
    if (arrived_ < arrivals_.size()) candidate(arrivals_[arrived_].at_ns);
    if (wake_ns_) candidate(std::max(*wake_ns_, now_ns_));
    return next;
  }

  base::Result<void> arrive(const Arrival& arrival) {
    if (arrival.source >= waiting_.size()) waiting_.resize(arrival.source + 1);
    auto& behind = waiting_[arrival.source];
    if (behind.empty()) {
      RL_TRY_ASSIGN(const bool entered, offer(arrival));
      if (entered) return {};
    }
    behind.push_back(arrival);
    ++waiting_frames_;
    return {};
  }

  /// Offers the first waiting frame of each source once; whether one got in.
  base::Result<bool> admit_waiting() {
    bool any = false;
    for (auto& behind : waiting_) {
      if (behind.empty()) continue;
      RL_TRY_ASSIGN(const bool entered, offer(behind.front()));
      if (!entered) continue;
      any = true;
      behind.pop_front();
      --waiting_frames_;
    }
    return any;
  }

  base::Result<bool> offer(const Arrival& arrival) {
    Frame frame;
    frame.source = arrival.source;
    frame.sequence = arrival.sequence;
    frame.pts_ns = arrival.at_ns;
    frame.intended_ns = options_.dispatcher.drop_policy == DropPolicy::none ? now_ns_ : arrival.at_ns;
    frame.deadline_ns = options_.slo_ns == 0 ? 0 : frame.intended_ns + options_.slo_ns;
    RL_TRY_ASSIGN(const auto admission, scheduler_.offer(frame, now_ns_));
    log("offer {}:{} {}", frame.source, frame.sequence, to_string(admission));
    return admission != Admission::must_wait;
  }

  base::Result<void> complete(std::uint32_t worker) {
    std::optional<DropReason> failure;
    if (options_.failures > 0 && random_.uniform() < options_.failures) failure = DropReason::failed;
    log("complete {} {}", worker, failure ? to_string(*failure) : "ok");
    return scheduler_.complete(worker, now_ns_, failure);
  }

  base::Result<void> poll() {
    if (arrived_ == arrivals_.size() && waiting_frames_ == 0) scheduler_.drain();
    RL_TRY_ASSIGN(wake_ns_, scheduler_.poll(now_ns_));
    for (const auto& launch : scheduler_.launches()) {
      device_.start(launch.worker, launch.executed_size);
      if (options_.log != nullptr) log_launch(launch);
    }
    scheduler_.take_results(results_);
    for (const auto& result : results_) {
      log("leave {}:{} {}", result.frame.source, result.frame.sequence,
          result.dropped ? to_string(*result.dropped) : "ok");
      if (options_.on_result) options_.on_result(result);
    }
    return {};
  }

  void log_launch(const Launch& launch) {
    std::string frames;
    for (const auto& frame : launch.frames)
      fmt::format_to(std::back_inserter(frames), " {}:{}", frame.source, frame.sequence);
    log("launch {} {}{}", launch.worker, launch.executed_size, frames);
  }

  const SimulationOptions& options_;
  std::span<const Arrival> arrivals_;
  SimulatedDevice device_;
  StreamScheduler scheduler_;
  base::Random random_;
  std::int64_t now_ns_ = 0;
  std::size_t arrived_ = 0;
  std::optional<std::int64_t> wake_ns_;
  std::vector<std::deque<Arrival>> waiting_;  ///< by source, under back-pressure
  std::size_t waiting_frames_ = 0;
  std::vector<std::uint32_t> completed_;
  std::vector<std::uint32_t> left_;
  std::vector<FrameResult> results_;
};

}  // namespace

base::Result<FlowMeter> simulate(const SimulationOptions& options, std::span<const Arrival> arrivals) {
  const auto& dispatcher = options.dispatcher;
  SimulatedDevice device(options.device, {dispatcher.workers, dispatcher.sessions, dispatcher.session_batches},
                         options.freezes, options.seed);
  RL_TRY_ASSIGN(auto model, ServiceModel::make(device.warm_up(options.dispatcher.max_batch), options.shape));
  RL_TRY_ASSIGN(auto scheduler, StreamScheduler::make(options.dispatcher, std::move(model), options.order_window));
  return Simulation(options, arrivals, std::move(device), std::move(scheduler)).run();
}

}  // namespace ridgeline::stream
