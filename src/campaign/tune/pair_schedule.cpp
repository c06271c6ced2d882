// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/pair_schedule.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/comparison.hpp"
#include "campaign/messages.hpp"
#include "campaign/tune/pair_plan.hpp"

namespace ridgeline::campaign {

using schema::Configuration;

namespace {

constexpr double kHeadToHeadShare = 0.67;  // of the finalists' ABBA rounds; the interval goes on to be narrow
constexpr int kMostTries = 3;              // of a comparison that other processes disturb all the time

}  // namespace

schema::PairedPlan PairSchedule::plan_for(const Configuration& a, const Configuration& b, double share) const {
  return pair_plan(result_, request_.paired, a, b, share);
}

schema::PairedPlan PairSchedule::head_to_head_plan(const Configuration& a, const Configuration& b) const {
  auto plan = plan_for(a, b, 1);
  plan.min_time_s *= kHeadToHeadShare;
  return plan;
}

schema::PairedPlan PairSchedule::decisive_plan(const Configuration& configuration) const {
  const auto& current = result_.run.current;
  return budget_.fitted_plan(plan_for(current, configuration, 1), request_.fresh_finals, current, configuration,
                             budget_.whole_plannable_s() / pace_);
}

double PairSchedule::expected_s(const Configuration& a, const Configuration& b, const schema::PairedPlan& plan,
                                bool fresh) const {
  return pace_ * budget_.expected_pair_s(plan, fresh, a, b);
}

double PairSchedule::final_s(const Configuration& configuration) const {
  const auto& current = result_.run.current;
  return expected_s(current, configuration, plan_for(current, configuration, 1), request_.fresh_finals);
}

double PairSchedule::decisive_s(const Configuration& configuration) const {
  return expected_s(result_.run.current, configuration, decisive_plan(configuration), request_.fresh_finals);
}

bool PairSchedule::has_time_for(const Configuration& a, const Configuration& b, const schema::PairedPlan& plan,
                                bool fresh, double before_s) const {
  const double pair_s = expected_s(a, b, plan, fresh);
  return budget_.plannable_s() > before_s + std::max(longest_s_, pair_s);
}

base::Result<void> PairSchedule::wait_for_quiet(double pair_s) {
  if (speed_.is_due() && budget_.plannable_s() > pair_s + speed_.reading_s()) RL_TRY(speed_.read());
  if (!speed_.begun() || speed_.is_even()) return {};
  const double most_s = std::min({SpeedWatch::kLongestWaitS, (budget_.plannable_s() - pair_s) / 2, extra_left_s()});
  if (most_s < speed_.reading_s()) return {};
  if (!speed_.is_fresh()) RL_TRY(speed_.read());
  if (!speed_.is_slow_now()) return {};
  observer_.stage("waiting for the machine to be as fast as it was");
  RL_TRY_ASSIGN(const double waited_s, speed_.wait_for_quiet(most_s));
  extra_s_ += waited_s;
  return {};
}

base::Result<void> PairSchedule::note_slow_stretch(schema::TunedPair& pair) {
  if (!speed_.begun()) return {};
  const bool asks = speed_.is_even() ? speed_.is_due() : !was_slow_;
  if (asks && budget_.plannable_s() > speed_.reading_s()) RL_TRY(speed_.read());
  if (!was_slow_ && !speed_.is_slow_now()) return {};
  pair.flags.push_back({schema::FlagLevel::notice, std::string(schema::kSlowStretch),
                        messages::machine_was_slower(std::exp(std::max(speed_.slowdown_now(), SpeedWatch::kSlow)))});
  runner_.flag_pair(pair.flags.back());
  return {};
}

base::Result<schema::TunedPair> PairSchedule::measure(schema::PairPurpose purpose, const Configuration& a,
                                                      const Configuration& b, const std::string& setting,
                                                      const schema::PairedPlan& plan) {
  const bool fresh = purpose == schema::PairPurpose::finalist && request_.fresh_finals;
  const double expected = budget_.expected_pair_s(plan, fresh, a, b);
  const double most_s = pace_ * expected;
  for (int tries = 1;; ++tries) {
    RL_TRY(wait_for_quiet(most_s));
    was_slow_ = speed_.is_slow_now();
    const double begun = budget_.elapsed_s();
    auto pair = runner_.pair(purpose, a, b, setting, plan, again_ || tries > 1);
    const double took = budget_.elapsed_s() - begun;
    longest_s_ = std::max(longest_s_, took);
    if (expected > 0) pace_ = std::max(pace_, took / expected);
    if (pair && !pair->cached) RL_TRY(note_slow_stretch(*pair));
    if (!pair || analysis::is_of_quiet_machine(*pair) || tries == kMostTries ||
        std::min(budget_.plannable_s() / 2, extra_left_s()) < took)
      return pair;
    runner_.forget_pair();
    extra_s_ += took;
  }
}

void PairSchedule::start_over() {
  runner_.forget_verdicts();
  again_ = true;
}

bool PairSchedule::was_cut(const base::Error& error) {
  if (error.code != base::ErrorCode::out_of_time) return false;
  context_.note(messages::answer_rests_on_before(error.message));
  return true;
}

}  // namespace ridgeline::campaign
