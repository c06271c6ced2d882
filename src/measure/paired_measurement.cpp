// SPDX-License-Identifier: Apache-2.0
// Interleaved comparison: ABBA rounds of blocks A B B A, one of every two mirrored (B A A B). Inside an ABBA round a
// linear drift cancels, because both arms have the same mean position; mirroring cancels what a block inherits from its
// neighbour (warm caches, a raised clock), because each arm then opens as many ABBA rounds as the other. Which of the
// two is mirrored is left to chance: what else goes on in the machine has a beat of its own, and in step with a fixed
// order it would favour one arm for as long as the comparison lasts.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "measure/abba_ratio.hpp"
#include "measure/disturbance.hpp"
#include "measure/host_load.hpp"
#include "measure/local_arm.hpp"
#include "measure/measurement_session.hpp"
#include "measure/messages.hpp"
#include "measure/paired_budget.hpp"
#include "measure/throttle_guard.hpp"
#include "stats/mean.hpp"

namespace ridgeline::measure {
namespace {

constexpr int kMinAbbaRounds = 4;
constexpr std::array<std::string_view, 2> kOrders{"ABBA", "BAAB"};

/// One of every two ABBA rounds is mirrored; which of them is left to chance.
std::string_view order_of(int abba_round, std::uint64_t seed) {
  base::Random chance(seed + static_cast<std::uint64_t>(abba_round / 2));
  return kOrders[(static_cast<std::uint64_t>(abba_round) + chance.next()) % kOrders.size()];
}

class PairedSession {
 public:
  PairedSession(PairedArm& a, PairedArm& b, const schema::PairedPlan& plan, const MeasureControl& control)
      : plan_(plan), control_(control), arms_{&a, &b} {}

  base::Result<void> warm(char name, schema::PairedMeasurement& out) {
    RL_TRY_ASSIGN(auto flag, arm_of(name).warm_up(plan_.warmup));
    if (flag) {
      flag->message = messages::of_arm({.arm = std::string(1, name), .what = flag->message});
      out.flags.push_back(std::move(*flag));
    }
    return {};
  }

  /// False when cancelled.
  base::Result<bool> run_block(char name, schema::PairedBlock& block) {
    RL_TRY_ASSIGN(auto timed, arm_of(name).run_block(plan_));
    for (const double part_s : {timed.settle_s, timed.discard_s, timed.timed_s}) spent_s_ += part_s;
    timed_s_ += timed.timed_s;
    block.arm = name;
    block.latency_ns = std::move(timed.latency_ns);
    block.wall_ns = timed.wall_ns;
    return timed.complete;
  }

  [[nodiscard]] bool cancelled() const noexcept { return control_.cancel.load(std::memory_order_relaxed); }
  [[nodiscard]] double spent_s() const noexcept { return spent_s_; }
  [[nodiscard]] double timed_s() const noexcept { return timed_s_; }

 private:
  PairedArm& arm_of(char name) noexcept { return *arms_[name == 'A' ? 0 : 1]; }

  const schema::PairedPlan& plan_;
  const MeasureControl& control_;
  std::array<PairedArm*, 2> arms_;
  double spent_s_ = 0;
  double timed_s_ = 0;
};

using AbbaRound = std::array<schema::PairedBlock, 4>;

bool enough(const schema::PairedPlan& plan, const std::vector<double>& ratios, double spent_s, bool has_samples) {
  const auto abba_rounds = static_cast<int>(ratios.size());
  return abba_rounds >= plan.abba_rounds && has_samples &&
         (abba_rounds >= plan.max_abba_rounds ||
          (spent_s >= plan.min_time_s && stats::mean_half_width(ratios) <= plan.target_half_width));
}

/// What other processes took from ABBA round to ABBA round; of ABBA rounds too short for that, over several.
class CpuInterference {
 public:
  CpuInterference(const PairedArm& a, const PairedArm& b) : a_(a), b_(b), before_(read()) {}

  double taken() {
    const auto now = read();
    if (!now || !before_ || now->wall_s - before_->wall_s < HostLoad::kLeastS) return taken_;
    taken_ = HostLoad::taken(before_, now);
    before_ = now;
    return taken_;
  }

 private:
  [[nodiscard]] std::optional<HostLoad::Counters> read() const {
    auto counters = HostLoad::read();
    if (counters) counters->own_s += a_.outside_use().cpu_s + b_.outside_use().cpu_s;
    return counters;
  }

  const PairedArm& a_;
  const PairedArm& b_;
  std::optional<HostLoad::Counters> before_;
  double taken_ = 0;
};

DisturbanceCounters disturbance_of(const PairedArm& a, const PairedArm& b) {
  auto counters = read_disturbance();
  counters.involuntary_switches += a.outside_use().involuntary_switches + b.outside_use().involuntary_switches;
  return counters;
}

/// The ABBA rounds in order of time. With a watch those in which the GPU throttled its clocks do not count.
class AbbaLog {
 public:
  AbbaLog(gpu::RoundWatch* watch, const schema::PairedPlan& plan)
      : watch_(watch), guard_(plan.max_time_s), budget_(plan) {
    if (watch_ == nullptr) return;
    neighbours_before_ = watch_->neighbours();
    watch_->begin_timing();
    watch_->begin_part();
  }

  void add(AbbaRound abba_round, double timed_s, double taken) {
    for (auto& block : abba_round) block.taken = taken;
    for (const auto& block : abba_round) inferences_ += static_cast<std::int64_t>(block.latency_ns.size());
    abba_rounds_.push_back({std::move(abba_round), 0, timed_s});
    abba_rounds_.back().log_ratio = abba_log_ratio(abba_rounds_.back().blocks.data());
    if (watch_ != nullptr) {
      guard_.add(timed_s, watch_->end_part());
      watch_->begin_part();
    }
    ratios_.clear();
    budget_.clear();
    for (std::size_t i = 0; i < abba_rounds_.size(); ++i) {
      if (!counts(i) || is_disturbed(i)) continue;
      ratios_.push_back(abba_rounds_[i].log_ratio);
      for (const auto& block : abba_rounds_[i].blocks) budget_.add(block);
    }
  }

  /// Moves the ABBA rounds that count into the result.
  void finish(schema::PairedMeasurement& result) {
    gpu::TimedTotals totals;
    for (std::size_t i = 0; i < abba_rounds_.size(); ++i) {
      if (!counts(i)) continue;
      totals.kept_s += abba_rounds_[i].timed_s;
      for (auto& block : abba_rounds_[i].blocks) result.blocks.push_back(std::move(block));
    }
    if (watch_ == nullptr) return;
    totals.discarded_s = guard_.discarded_s();
    totals.discarded_parts = static_cast<std::int64_t>(guard_.discarded());
    watch_->end_timing(totals);
    if (auto flag = guard_.flag()) result.flags.push_back(std::move(*flag));
    if (auto flag = judge_neighbours(neighbours_before_, watch_->neighbours()))
      result.flags.push_back(std::move(*flag));
  }

  /// That count and that no other process disturbed.
  [[nodiscard]] int kept() const noexcept { return static_cast<int>(ratios_.size()); }
  /// With those that were disturbed, which count where there are no others.
  [[nodiscard]] int made() const {
    int made = 0;
    for (std::size_t i = 0; i < abba_rounds_.size(); ++i) made += counts(i) ? 1 : 0;
    return made;
  }
  [[nodiscard]] const std::vector<double>& ratios() const noexcept { return ratios_; }
  [[nodiscard]] const PairedBudget& budget() const noexcept { return budget_; }
  [[nodiscard]] std::int64_t inferences() const noexcept { return inferences_; }

 private:
  struct Entry {
    AbbaRound blocks;
    double log_ratio = 0;
    double timed_s = 0;
  };
  [[nodiscard]] bool counts(std::size_t abba_round) const { return watch_ == nullptr || guard_.kept(abba_round); }
  [[nodiscard]] bool is_disturbed(std::size_t abba_round) const {
    return abba_rounds_[abba_round].blocks.front().taken > schema::kTakenCpus;
  }

  gpu::RoundWatch* watch_;
  ThrottleGuard guard_;
  std::optional<int> neighbours_before_;
  std::vector<Entry> abba_rounds_;
  std::vector<double> ratios_;
  PairedBudget budget_;
  std::int64_t inferences_ = 0;
};

}  // namespace

base::Result<schema::PairedMeasurement> measure_paired(workload::Workload& a, workload::Workload& b,
                                                       const schema::PairedPlan& plan, MeasureControl& control,
                                                       PairedOrder order) {
  const std::shared_ptr<void> elsewhere;  // who owns the workloads
  LocalArm arm_a(std::shared_ptr<workload::Workload>(elsewhere, &a), control);
  LocalArm arm_b(std::shared_ptr<workload::Workload>(elsewhere, &b), control);
  return measure_paired(arm_a, arm_b, plan, control, order);
}

base::Result<schema::PairedMeasurement> measure_paired(PairedArm& a, PairedArm& b, const schema::PairedPlan& plan,
                                                       MeasureControl& control, PairedOrder order) {
  if (plan.abba_rounds < 1)
    return base::fail(base::ErrorCode::invalid_argument, "paired plan asks for {} ABBA rounds, expected at least 1",
                      plan.abba_rounds);
  schema::PairedMeasurement result;
  result.items_per_inference_a = a.items_per_inference();
  result.items_per_inference_b = b.items_per_inference();
  control.phase.store(schema::TrialPhase::warmup, std::memory_order_relaxed);
  PairedSession session(a, b, plan, control);
  if (order.b_first) RL_TRY(session.warm('B', result));
  RL_TRY(session.warm('A', result));
  if (!order.b_first) RL_TRY(session.warm('B', result));

  control.phase.store(schema::TrialPhase::measure, std::memory_order_relaxed);
  const bool real_time = a.real_time() && b.real_time();
  const auto before = real_time ? disturbance_of(a, b) : DisturbanceCounters{};
  const bool watches_cpus = real_time && control.gpu == nullptr;
  CpuInterference neighbours(a, b);
  AbbaLog log(control.gpu, plan);
  while (!enough(plan, log.ratios(), session.spent_s(), log.budget().has_samples()) && !session.cancelled() &&
         (log.made() < std::min(kMinAbbaRounds, plan.abba_rounds) || session.spent_s() < log.budget().limit_s())) {
    AbbaRound abba_round;
    bool complete = true;
    const double from_s = session.timed_s();
    const auto arms =
        order_of(log.kept(), order.seed);  // an ABBA round that is taken again has the order of the one it replaces
    for (std::size_t i = 0; complete && i < abba_round.size(); ++i) {
      RL_TRY_ASSIGN(complete, session.run_block(arms[i], abba_round[i]));
    }
    if (!complete) break;  // a part of an ABBA round has no drift-free ratio
    log.add(std::move(abba_round), session.timed_s() - from_s, watches_cpus ? neighbours.taken() : 0);
  }
  log.finish(result);
  result.blocks_s = session.spent_s();
  const int abba_rounds = log.made();
  if (session.cancelled())
    result.flags.push_back({schema::FlagLevel::error, "cancelled",
                            messages::rounds_cancelled({.rounds = abba_rounds, .planned = plan.abba_rounds})});
  else if (auto flag = log.budget().flag(abba_rounds))
    result.flags.push_back(std::move(*flag));
  if (real_time)
    if (auto flag = judge_disturbance(before, disturbance_of(a, b), session.spent_s(), log.inferences()))
      result.flags.push_back(std::move(*flag));
  for (auto& flag : a.flags()) result.flags.push_back(std::move(flag));
  for (auto& flag : b.flags()) result.flags.push_back(std::move(flag));
  return result;
}

}  // namespace ridgeline::measure
