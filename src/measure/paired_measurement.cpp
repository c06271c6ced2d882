// SPDX-License-Identifier: Apache-2.0
// Interleaved comparison: quads of blocks A B B A, every second quad mirrored (B A A B). Inside a quad a linear drift
// cancels, because both arms have the same mean position; mirroring cancels what a block inherits from its neighbour
// (warm caches, a raised clock), because each arm then opens as many quads as the other.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "measure/disturbance.hpp"
#include "measure/lane_runner.hpp"
#include "measure/measurement_session.hpp"
#include "measure/warm_up.hpp"

namespace ridgeline::measure {
namespace {

constexpr int kMinQuads = 4;
constexpr std::int64_t kMaxBlockSamples = 1 << 16;  // in all lanes together
constexpr std::array<std::string_view, 2> kOrders{"ABBA", "BAAB"};

struct Arm {
  workload::Workload* workload = nullptr;
  std::unique_ptr<LaneRunner> runner;
};

class PairedSession {
 public:
  PairedSession(const schema::PairedPlan& plan, MeasureControl& control) : plan_(plan), control_(control) {}

  base::Result<void> warm(char name, workload::Workload& workload, schema::PairedMeasurement& out) {
    auto& arm = arm_of(name);
    arm.workload = &workload;
    RL_TRY_ASSIGN(arm.runner, LaneRunner::make(workload, control_, kMaxBlockSamples / std::max(1, workload.lanes())));
    RL_TRY_ASSIGN(auto warmed, warm_up(*arm.runner, plan_.warmup, control_));
    if (warmed.flag) {
      warmed.flag->message = fmt::format("arm {}: {}", name, warmed.flag->message);
      out.flags.push_back(std::move(*warmed.flag));
    }
    return {};
  }

  /// False when cancelled.
  base::Result<bool> run_block(char name, schema::PairedBlock& block) {
    auto& arm = arm_of(name);
    // On a virtual clock nothing spins and nothing settles, and tests of campaigns would only get slower.
    if (plan_.settle_s > 0 && &arm.workload->clock() == &base::system_clock()) {
      arm.workload->clock().sleep_for(base::from_seconds(plan_.settle_s));
      spent_s_ += plan_.settle_s;
    }
    if (plan_.discard_runs > 0) {
      RL_TRY(arm.runner->run({plan_.discard_runs, plan_.discard_runs, std::nullopt}));
      spent_s_ += base::to_seconds(arm.runner->elapsed());
    }
    if (cancelled()) return false;
    RL_TRY(arm.runner->run({arm.runner->capacity(), std::max<std::int64_t>(1, plan_.min_block_runs),
                            base::from_seconds(std::max(0.0, plan_.block_time_s))}));
    spent_s_ += base::to_seconds(arm.runner->elapsed());
    timed_s_ += base::to_seconds(arm.runner->elapsed());
    if (cancelled()) return false;
    block.arm = name;
    arm.runner->append_latencies(block.latency_ns);
    arm.runner->clear_window();
    arm.runner->add_to_window();
    block.wall_ns = arm.runner->window_ns();
    return true;
  }

  [[nodiscard]] bool cancelled() const noexcept { return control_.cancel.load(std::memory_order_relaxed); }
  [[nodiscard]] double spent_s() const noexcept { return spent_s_; }
  [[nodiscard]] double timed_s() const noexcept { return timed_s_; }

 private:
  Arm& arm_of(char name) noexcept { return arms_[name == 'A' ? 0 : 1]; }

  const schema::PairedPlan& plan_;
  MeasureControl& control_;
  std::array<Arm, 2> arms_;
  double spent_s_ = 0;
  double timed_s_ = 0;
};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Mean log ratio of one quad, B over A, by block medians.
double log_ratio(const std::array<schema::PairedBlock, 4>& quad) {
  double sum = 0;
  for (const auto& block : quad)
    if (!block.latency_ns.empty()) sum += (block.arm == 'B' ? 0.5 : -0.5) * std::log(median_of(block.latency_ns));
  return sum;
}

/// Half width of the 95 % interval of the mean (Student's t, whose quantile is below 2.2 from 12 values on).
double half_width(const std::vector<double>& values) {
  constexpr double kQuantile = 2.2;
  if (values.size() < 2) return std::numeric_limits<double>::infinity();
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return kQuantile * std::sqrt(squares / (count - 1) / count);
}

bool enough(const schema::PairedPlan& plan, const std::vector<double>& ratios) {
  const auto quads = static_cast<int>(ratios.size());
  return quads >= plan.quads && (quads >= plan.max_quads || half_width(ratios) <= plan.target_half_width);
}

}  // namespace

base::Result<schema::PairedMeasurement> measure_paired(workload::Workload& a, workload::Workload& b,
                                                       const schema::PairedPlan& plan, MeasureControl& control) {
  if (plan.quads < 1)
    return base::fail(base::ErrorCode::invalid_argument, "paired plan asks for {} quads, expected at least 1",
                      plan.quads);
  schema::PairedMeasurement result;
  result.items_per_inference_a = a.items_per_step();
  result.items_per_inference_b = b.items_per_step();
  control.phase.store(schema::TrialPhase::warmup, std::memory_order_relaxed);
  PairedSession session(plan, control);
  RL_TRY(session.warm('A', a, result));
  RL_TRY(session.warm('B', b, result));

  control.phase.store(schema::TrialPhase::measure, std::memory_order_relaxed);
  const bool real_time = &a.clock() == &base::system_clock() && &b.clock() == &base::system_clock();
  const auto before = real_time ? read_disturbance() : DisturbanceCounters{};
  std::int64_t inferences = 0;
  int quads = 0;
  std::vector<double> ratios;
  while (!enough(plan, ratios) && !session.cancelled() && (quads < kMinQuads || session.spent_s() < plan.max_time_s)) {
    std::array<schema::PairedBlock, 4> quad;
    bool complete = true;
    for (std::size_t i = 0; complete && i < quad.size(); ++i) {
      RL_TRY_ASSIGN(complete, session.run_block(kOrders[static_cast<std::size_t>(quads) % 2][i], quad[i]));
    }
    if (!complete) break;  // a part of a quad has no drift-free ratio
    ratios.push_back(log_ratio(quad));
    for (auto& block : quad) {
      inferences += static_cast<std::int64_t>(block.latency_ns.size());
      result.blocks.push_back(std::move(block));
    }
    ++quads;
  }
  if (session.cancelled())
    result.flags.push_back(
        {schema::FlagLevel::error, "cancelled", fmt::format("cancelled after {} of {} quads", quads, plan.quads)});
  else if (quads < plan.quads)
    result.flags.push_back(
        {schema::FlagLevel::info, "time_budget",
         fmt::format("the budget of {:.3g} s ended after {} of {} quads", plan.max_time_s, quads, plan.quads)});
  if (real_time)
    if (auto flag = judge_disturbance(before, read_disturbance(), session.timed_s(), inferences))
      result.flags.push_back(std::move(*flag));
  for (auto& flag : a.flags()) result.flags.push_back(std::move(flag));
  for (auto& flag : b.flags()) result.flags.push_back(std::move(flag));
  return result;
}

}  // namespace ridgeline::measure
