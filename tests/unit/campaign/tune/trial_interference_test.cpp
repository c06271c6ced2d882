// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/trial_interference.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/fake_gpu_pool.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using Slots = std::vector<std::size_t>;

std::vector<schema::TrialSpec> specs(std::size_t slots) {
  std::vector<schema::TrialSpec> specs(slots);
  for (std::size_t slot = 0; slot < slots; ++slot) specs[slot].device = fmt::format("gpu:{}", slot);
  return specs;
}

Interference check(fakes::FakeGpuPool& pool, double left_s = std::numeric_limits<double>::infinity()) {
  auto found = check_trial_interference(pool, specs(pool.slots().size()), schema::Objective::latency, [=] {
    return execute::TimeLeft{left_s, 0};
  });
  EXPECT_TRUE(found);
  return found ? *found : Interference{};
}

bool has(const std::string& note, std::string_view text) { return note.find(text) != std::string::npos; }

/// Notes of checks of as many GPUs as `pace` has, whose sessions differ by 2.5 % (one standard deviation).
std::vector<std::string> notes_of_hundred(const std::vector<double>& pace, const std::vector<double>& disturbance) {
  std::vector<std::string> notes;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const fakes::FakeClock clock;
    fakes::FakeGpuPool pool(clock, pace.size());
    pool.pace = pace;
    pool.disturbance = disturbance;
    pool.simple.noise = 0;
    pool.session_spread = 0.025;
    pool.luck = base::Random(seed);
    notes.push_back(fakes::text_of(check(pool).note));
  }
  return notes;
}

std::ptrdiff_t count(const std::vector<std::string>& notes, std::string_view text) {
  return std::count_if(notes.begin(), notes.end(), [&](const auto& note) { return has(note, text); });
}

/// Whether the slot's next trial finds a session that it has not made.
bool finds_session(fakes::FakeGpuPool& pool, std::size_t slot) {
  pool.simple.setup_s = [](const auto&) { return 0.1; };
  const auto outcome = std::move(pool.run_trials({{slot, specs(slot + 1).back(), {}}}).front());
  EXPECT_TRUE(outcome && outcome->measurement);
  return outcome && outcome->measurement && outcome->measurement->session_create_ns == 0;
}

TEST(TrialInterference, gpus_that_leave_each_other_alone_measure_side_by_side) {
  const fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 3);
  pool.disturbance = {1.0, 1.01, 1.0};
  const auto found = check(pool);
  EXPECT_EQ(found.slots, (Slots{0, 1, 2}));
  EXPECT_TRUE(has(fakes::text_of(found.note), "spread over 3 GPUs, which slow each other down by at most 1."))
      << fakes::text_of(found.note);
  EXPECT_EQ(pool.widths, (Slots{1, 1, 1, 3}));
}

TEST(TrialInterference, one_disturbed_gpu_serialises_all) {
  const fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 3);
  pool.disturbance = {1.0, 1.0, 1.064};
  const auto found = check(pool);
  EXPECT_EQ(found.slots, (Slots{0}));
  EXPECT_TRUE(has(fakes::text_of(found.note), "one after another: gpu:2 is 6.")) << fakes::text_of(found.note);
  EXPECT_TRUE(has(fakes::text_of(found.note), "(limit 3 %; median of 3 sessions)")) << fakes::text_of(found.note);
}

TEST(TrialInterference, a_gpu_of_another_pace_is_left_out) {
  const fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 3);
  pool.pace = {1.0, 1.1, 1.0};
  pool.disturbance = {1.0, 2.0, 1.0};  // of one that is left out it does not matter
  const auto found = check(pool);
  EXPECT_EQ(found.slots, (Slots{0, 2}));
  EXPECT_TRUE(
      has(fakes::text_of(found.note), "gpu:1 is left out: alone it takes 1.1 times as long (median of 3 sessions)"))
      << fakes::text_of(found.note);
  // Only the two that differ are looked at again, then those that are left with each other.
  EXPECT_EQ(pool.widths, (Slots{1, 1, 1, 3, 1, 1, 2, 1, 1, 2, 1, 1, 2}));
}

TEST(TrialInterference, what_a_gpu_that_is_left_out_does_to_others_does_not_matter) {
  const fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 3);
  pool.pace = {1.0, 1.1, 1.0};
  pool.simple.interrupt = [&] {  // before every trial
    pool.disturbance[2] = pool.widths.size() < 10 ? 1.2 : 1.0;
    return false;
  };
  const auto found = check(pool);
  EXPECT_EQ(found.slots, (Slots{0, 2})) << fakes::text_of(found.note);
}

TEST(TrialInterference, sessions_that_differ_neither_serialise_nor_leave_out) {
  const auto two = notes_of_hundred({1.0, 1.0}, {1.0, 1.0});
  EXPECT_EQ(count(two, "one after another"), 0);
  EXPECT_LE(count(two, "is left out"), 5);
  EXPECT_GE(count(two, "gpu:1 is equally fast (median of"), 30) << "past the limit at first sight";
  const auto four = notes_of_hundred({1.0, 1.0, 1.0, 1.0}, {1.0, 1.0, 1.0, 1.0});
  EXPECT_EQ(count(four, "one after another"), 0);
  EXPECT_LE(count(four, "is left out"), 15);
}

TEST(TrialInterference, a_disturbance_is_found_through_sessions_that_differ) {
  const auto notes = notes_of_hundred({1.0, 1.0}, {1.0, 1.06});
  EXPECT_EQ(count(notes, "are spread"), 0);
  EXPECT_GE(count(notes, "gpu:1 is 6.0 % slower while the other GPUs work (limit 3 %; median of 3 sessions)"), 95);
}

TEST(TrialInterference, a_slower_gpu_is_left_out_though_sessions_differ) {
  EXPECT_GE(count(notes_of_hundred({1.0, 1.1}, {1.0, 1.0}), "is left out"), 90);
}

TEST(TrialInterference, windows_are_long_enough_to_overlap_whatever_the_plan) {
  const fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 2);
  auto short_ones = specs(2);
  for (auto& spec : short_ones) {
    spec.plan.runs = 3;
    spec.plan.min_time_s = 0.1;
    spec.plan.max_time_s = 0.5;
  }
  ASSERT_TRUE(
      check_trial_interference(pool, short_ones, schema::Objective::latency, [] { return execute::TimeLeft{}; }));
  ASSERT_EQ(pool.plans.size(), 4U);
  for (const auto& plan : pool.plans) {
    EXPECT_FALSE(plan.runs);
    EXPECT_GE(plan.min_time_s, 1);
    EXPECT_GE(plan.max_time_s, plan.min_time_s);
  }
}

TEST(TrialInterference, with_little_time_left_nothing_is_looked_at_again) {
  for (const bool disturbed : {false, true}) {
    const fakes::FakeClock clock;
    fakes::FakeGpuPool pool(clock, 2);
    (disturbed ? pool.disturbance : pool.pace) = {1.0, 1.05};
    const auto found = check(pool, 11);  // of which the first look takes 3 s
    EXPECT_EQ(found.slots, (Slots{0}));
    EXPECT_FALSE(has(fakes::text_of(found.note), "sessions")) << fakes::text_of(found.note);
    EXPECT_EQ(pool.widths, (Slots{1, 1, 2}));
  }
}

TEST(TrialInterference, no_session_is_left_for_the_trials) {
  for (const double pace : {1.0, 1.1}) {
    const fakes::FakeClock clock;
    fakes::FakeGpuPool pool(clock, 2);
    pool.pace = {1.0, pace};
    check(pool);
    for (const std::size_t slot : {0U, 1U}) EXPECT_FALSE(finds_session(pool, slot)) << slot;
  }
}

TEST(TrialInterference, defaults_that_do_not_run_serialise) {
  const fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 2);
  pool.simple.failure = [](const auto&) { return schema::TrialStatus::out_of_memory; };
  EXPECT_EQ(check(pool).slots, (Slots{0}));
}

TEST(TrialInterference, a_slot_with_another_runtime_is_left_out_untimed) {
  InterferenceProbe probe;
  probe.devices = {"gpu:0", "gpu:1", "gpu:2"};
  probe.unlike = {{}, fakes::legacy("its onnxruntime is another"), {}};
  probe.left_s = [] { return std::numeric_limits<double>::infinity(); };
  std::vector<std::size_t> timed;
  probe.time = [&](const Slots& slots, bool) -> base::Result<std::vector<std::optional<double>>> {
    timed.insert(timed.end(), slots.begin(), slots.end());
    return std::vector<std::optional<double>>(slots.size(), 1.0);
  };
  const auto found = check_interference(probe);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->slots, (Slots{0, 2}));
  EXPECT_TRUE(has(fakes::text_of(found->note), "gpu:1 is left out: its onnxruntime is another"))
      << fakes::text_of(found->note);
  EXPECT_EQ(std::count(timed.begin(), timed.end(), 1U), 0);
}

TEST(TrialInterference, an_interrupt_ends_it) {
  const fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 2);
  pool.simple.interrupt = [&] { return pool.simple.trials_run == 1; };
  const auto found =
      check_trial_interference(pool, specs(2), schema::Objective::latency, [] { return execute::TimeLeft{}; });
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::ErrorCode::cancelled);
  pool.simple.interrupt = [] { return false; };
  EXPECT_FALSE(finds_session(pool, 0));
}

}  // namespace
}  // namespace ridgeline::campaign
