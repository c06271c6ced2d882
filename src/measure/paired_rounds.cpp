// SPDX-License-Identifier: Apache-2.0
#include "measure/paired_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "measure/abba_ratio.hpp"
#include "measure/messages.hpp"
#include "measure/paired_budget.hpp"
#include "schema/message_shape.hpp"
#include "stats/mean.hpp"
#include "stats/rounds.hpp"

namespace ridgeline::measure {
namespace {

constexpr double kLaterWarmUpS = 0.05;  // the machine is warm, only the session is new
constexpr const char* kTimeBudget = "time_budget";
constexpr const char* kFewRounds = "few_rounds";
constexpr double kMostLaterRuns = 200;
constexpr int kLeastAbbaRounds = 4;  // of a round, as measure_paired has them
constexpr int kUsualRounds = 6;      // that there is time for at least: what sessions differ by needs several
constexpr double kFarApart = 0.1;    // in log: several times what sessions of one configuration differ by; of such arms
constexpr double kFarHalfWidth = 0.04;  // so much of the ratio is known well enough
constexpr std::uint64_t kMostShift = std::uint64_t{1} << 20U;

/// Memory of a size by chance, so that what comes after it lies elsewhere in every round.
std::vector<std::byte> shifted_memory(base::Random& random) {
  return std::vector<std::byte>(1 + random.below(kMostShift), std::byte{1});
}

/// What the rounds have given so far.
class Rounds {
 public:
  explicit Rounds(const schema::PairedPlan& plan)
      : plan_(plan),
        least_(std::clamp(plan.rounds, 1, std::max(1, plan.abba_rounds))),
        most_(least_ < plan.rounds ? least_ : std::max(least_, plan.max_rounds)),
        budget_(plan) {}

  [[nodiscard]] bool enough() const {
    if (rounds_ == 0 || (rounds_ % 2 == 1 && most_ > 1)) return false;
    if (rounds_ >= std::min(least_, 2) && (left_s() <= 0 || (most_ > least_ && left_s() < again_s_))) return true;
    if (rounds_ < least_ || !budget_.has_samples()) return false;
    if (rounds_ >= most_ || static_cast<int>(ratios_.size()) >= plan_.max_abba_rounds) return true;
    return all_.blocks_s >= plan_.min_time_s && known();
  }

  /// Whether the rounds up to the end of a turn, with as few ABBA rounds as a round may have, are likely to end within
  /// `left_s`. The first round is made come what may.
  [[nodiscard]] bool has_time(double left_s) const {
    if (rounds_ == 0) return true;
    return (rounds_ % 2 == 0 ? 2 : 1) * (again_s_ + least_abba_rounds() * abba_round_s()) <= left_s;
  }

  /// A share of the plan, of which `time_left_s` is left once its sessions are there. The last turn has what is left.
  [[nodiscard]] schema::PairedPlan next(double time_left_s) const {
    auto share = plan_;
    share.abba_rounds = (plan_.abba_rounds + least_ - 1) / least_;
    share.max_abba_rounds = std::max(share.abba_rounds, plan_.max_abba_rounds / least_);
    share.min_time_s = plan_.min_time_s / least_;
    share.max_time_s = plan_.max_time_s / least_;
    share.min_samples = most_ > least_ ? 0 : (plan_.min_samples + least_ - 1) / least_;
    share.min_samples_time_s = plan_.min_samples_time_s / least_;
    if (most_ > least_)
      share.min_time_s = share.max_time_s =
          std::max(0.0, std::min({std::max(share.min_time_s, again_s_), plan_.max_time_s / kUsualRounds,
                                  rounds_ % 2 == 0 ? left_s() / 2 : left_s(),
                                  rounds_ % 2 == 0 ? (time_left_s - again_s_) / 2 : time_left_s}));
    if (most_ > least_ && slowest_s_ > 0) {
      const double runs = std::clamp(kLaterWarmUpS / slowest_s_, 1.0, kMostLaterRuns);
      share.warmup.warmup_runs = std::max(plan_.warmup.warmup_runs, static_cast<std::int64_t>(runs));
      share.warmup.warmup_max_s = 0;
    }
    return share;
  }

  /// `again_s`: what making the sessions of another round takes, and warming them up.
  void add(schema::PairedMeasurement round, double again_s) {
    again_s_ = again_s;
    for (std::size_t at = 0; at + 4 <= round.blocks.size(); at += 4) {
      logs_.push_back(abba_log_ratio(&round.blocks[at]));
      marks_.push_back({rounds_, round.blocks[at].taken > schema::kTakenCpus});
    }
    count();
    all_.items_per_inference_a = round.items_per_inference_a;
    all_.items_per_inference_b = round.items_per_inference_b;
    all_.blocks_s += round.blocks_s;
    for (auto& block : round.blocks) {
      block.round = rounds_;
      budget_.add(block);
      if (!block.latency_ns.empty())
        slowest_s_ = std::max(slowest_s_, block.wall_ns * 1e-9 / static_cast<double>(block.latency_ns.size()));
      all_.blocks.push_back(std::move(block));
    }
    for (auto& flag : round.flags)
      if (flag.code != kTimeBudget) add(std::move(flag));  // of all rounds together it is reported at the end
    ++rounds_;
  }

  [[nodiscard]] schema::PairedMeasurement finish(bool cancelled) {
    const auto abba_rounds = static_cast<int>(logs_.size());
    tell_of_others(cancelled);
    if (auto flag = budget_.flag(abba_rounds); flag && !cancelled) add(std::move(*flag));
    if (!cancelled && !enough())
      add({schema::FlagLevel::notice, kFewRounds,
           messages::few_rounds({.pairs = rounds_, .few = rounds_ < stats::kScatterRounds})});
    all_.rounds = rounds_;
    return std::move(all_);
  }

  [[nodiscard]] int done() const noexcept { return rounds_; }

  [[nodiscard]] bool only_two() const noexcept { return most_ == 2; }

 private:
  struct Ratio {
    double log = 0;
    int round = 0;
  };

  [[nodiscard]] double left_s() const { return budget_.limit_s() - all_.blocks_s; }
  [[nodiscard]] int least_abba_rounds() const {
    return std::min(kLeastAbbaRounds, (plan_.abba_rounds + least_ - 1) / least_);
  }
  [[nodiscard]] double abba_round_s() const {
    return logs_.empty() ? 0 : all_.blocks_s / static_cast<double>(logs_.size());
  }

  /// Which ABBA rounds count, and the means of their rounds.
  void count() {
    const auto counted = stats::counted_rounds(marks_);
    ratios_.clear();
    for (std::size_t at = 0; at < counted.size(); ++at)
      if (counted[at] >= 0) ratios_.push_back({logs_[at], counted[at]});
    std::map<int, std::vector<double>> by_round;
    for (const auto& ratio : ratios_) by_round[ratio.round].push_back(ratio.log);
    means_.clear();
    for (const auto& [round, logs] : by_round) means_.push_back(stats::mean(logs));
  }

  void tell_of_others(bool cancelled) {
    const auto disturbed = std::count_if(marks_.begin(), marks_.end(), [](const auto& mark) { return mark.disturbed; });
    if (disturbed == 0 || cancelled) return;
    double taken = 0;
    for (const auto& block : all_.blocks)
      if (block.taken > schema::kTakenCpus) taken += block.taken / (4 * static_cast<double>(disturbed));
    const bool throughout = ratios_.size() >= marks_.size();
    add({throughout ? schema::FlagLevel::notice : schema::FlagLevel::info,
         throughout ? std::string(schema::kOthersThroughout) : "others_at_times",
         messages::others_took_cpus({.cpus = taken,
                                     .rounds = disturbed,
                                     .all = static_cast<std::int64_t>(marks_.size()),
                                     .throughout = throughout})});
  }

  /// Whether the interval over ABBA rounds and, where it is known, over rounds is as narrow as planned.
  [[nodiscard]] bool known() const {
    const double effect = stats::order_effect(means_);
    std::vector<double> ratios;
    for (const auto& ratio : ratios_) ratios.push_back(stats::without_order_effect(ratio.log, ratio.round, effect));
    const double over_abba_rounds = stats::mean_half_width(ratios);
    const auto rounds = static_cast<int>(means_.size());
    if (rounds == 0) return false;
    const double apart = std::abs(stats::mean(means_));
    const bool far_apart = apart - over_abba_rounds >= kFarApart;
    if (rounds < stats::kScatterRounds) return far_apart && over_abba_rounds <= kFarHalfWidth;
    std::vector<double> means;
    for (std::size_t round = 0; round < means_.size(); ++round)
      means.push_back(stats::without_order_effect(means_[round], static_cast<int>(round), effect));
    return std::max(stats::mean_half_width(means, 2), over_abba_rounds) <=
           (far_apart ? kFarHalfWidth : plan_.target_half_width);
  }

  /// What later rounds say again, with other figures, is said once.
  void add(schema::QualityFlag flag) {
    const auto shape = schema::shape_of(flag.message);
    if (std::none_of(all_.flags.begin(), all_.flags.end(), [&](const auto& known) {
          return known.code == flag.code && schema::shape_of(known.message) == shape;
        }))
      all_.flags.push_back(std::move(flag));
  }

  const schema::PairedPlan& plan_;
  int least_;
  int most_;
  int rounds_ = 0;
  PairedBudget budget_;
  double again_s_ = 0;    // making and warming up the sessions of a round; 0 before the first, which starts the runtime
  double slowest_s_ = 0;  // an inference, of the slower arm
  std::vector<double> logs_;                 // of all ABBA rounds
  std::vector<stats::AbbaRoundMark> marks_;  // of the same
  std::vector<Ratio> ratios_;                // of those that count
  std::vector<double> means_;                // of their rounds
  schema::PairedMeasurement all_;
};

}  // namespace

base::Result<schema::PairedMeasurement> measure_paired_rounds(const MakeArm& make_a, const MakeArm& make_b,
                                                              const schema::PairedPlan& plan, MeasureControl& control) {
  const auto cancelled = [&] { return control.cancel.load(std::memory_order_relaxed); };
  const auto& clock = *control.clock;
  Rounds rounds(plan);
  base::Random random(1);
  // Much of its memory a session takes at the first inference, which an arm has behind it when the next one is made.
  std::unique_ptr<PairedArm> first;
  std::unique_ptr<PairedArm> second;
  const auto start = clock.now();
  const auto time_left_s = [&] {
    return control.ends_within_s.value_or(std::numeric_limits<double>::infinity()) -
           base::to_seconds(clock.now() - start);
  };
  while (!rounds.enough() && !cancelled() && rounds.has_time(time_left_s())) {
    const auto begin = clock.now();
    const bool a_first = rounds.done() % 2 == 0;
    first.reset();
    const auto before_first = shifted_memory(random);
    auto made = (a_first ? make_a : make_b)();
    if (!made && second && made.error().code == base::ErrorCode::out_of_memory) {
      second.reset();  // two sessions of the larger arm do not fit
      made = (a_first ? make_a : make_b)();
    }
    RL_TRY_ASSIGN(first, std::move(made));
    second.reset();
    const auto first_made = clock.now();
    const auto before_second = shifted_memory(random);
    RL_TRY_ASSIGN(second, (a_first ? make_b : make_a)());
    const auto second_made = clock.now();
    RL_TRY_ASSIGN(auto measured, measure_paired(a_first ? *first : *second, a_first ? *second : *first,
                                                rounds.next(time_left_s()), control, {random.next(), !a_first}));
    // The very first session starts the runtime, which no other does.
    const auto started = rounds.done() > 0 ? base::Nanoseconds{} : (first_made - begin) - (second_made - first_made);
    const double making_s = base::to_seconds(clock.now() - begin - std::max(started, base::Nanoseconds{}));
    const double blocks_s = measured.blocks_s;
    rounds.add(std::move(measured), std::max(0.0, making_s - blocks_s));
    // Allocators hand out again what was given back, by size and in turn: with a fixed order an arm may keep its place
    // in memory for the whole comparison, the likely reason why arms were seen 2 % apart. Chance evens it out over many
    // rounds; of two it may leave both arms where they were, so there only the other's place is free for a new session.
    if (rounds.only_two()) continue;
    if (random.below(2) == 0) first.reset();  // else after the second
    second.reset();
    first.reset();
  }
  return rounds.finish(cancelled());
}

base::Result<schema::PairedMeasurement> measure_paired_rounds(const MakeWorkload& make_a, const MakeWorkload& make_b,
                                                              const schema::PairedPlan& plan, MeasureControl& control) {
  return measure_paired_rounds(MakeArm([&] { return LocalArm::make(make_a, control); }),
                               MakeArm([&] { return LocalArm::make(make_b, control); }), plan, control);
}

}  // namespace ridgeline::measure
