// SPDX-License-Identifier: Apache-2.0
#include "analysis/drift_detector.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::analysis {
namespace {

constexpr int kWeek = 10080;  // probes a minute apart
const DriftDetector::Options kUsual;
constexpr double kPi = 3.141592653589793;

/// A service whose probes have noise, a daily swing of 1 %, and now and then a neighbour for a single probe.
class Service {
 public:
  explicit Service(std::uint64_t seed, double noise = 0.015) : random_(seed), noise_(noise) {}
  double probe(double slow_down = 1) {
    const double day = std::sin(2 * kPi * minute_++ / 1440);
    double x = std::log(slow_down) + noise_ * random_.normal() + 0.01 * day;
    if (random_.uniform() < 0.004) x += 1.1 * random_.uniform();
    return std::exp(x);
  }

 private:
  base::Random random_;
  double noise_;
  int minute_ = 0;
};

int alarms(DriftDetector& test, Service& service, int probes, double slow_down = 1) {
  int count = 0;
  for (int i = 0; i < probes; ++i) count += test.observe(service.probe(slow_down)) == DriftEvent::degraded;
  return count;
}

TEST(DriftDetector, gives_less_than_one_false_alarm_in_a_week) {
  int total = 0;
  constexpr int kWeeks = 40;
  for (std::uint64_t seed = 1; seed <= kWeeks; ++seed) {
    DriftDetector test(kUsual);
    Service service(seed);
    total += alarms(test, service, kWeek);
  }
  RecordProperty("false_alarms_in_40_weeks", total);
  EXPECT_LE(total, 1);
}

TEST(DriftDetector, finds_a_tenth_within_five_probes) {
  constexpr int kRuns = 400;
  int found = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    DriftDetector test(kUsual);
    Service service(seed);
    const int before = static_cast<int>(seed * 37 % 1440);
    if (alarms(test, service, before) > 0) continue;
    found += alarms(test, service, 5, 1.10) == 1;
  }
  RecordProperty("found", found);
  EXPECT_GE(found, kRuns * 95 / 100);
}

TEST(DriftDetector, a_single_probe_however_slow_is_no_alarm) {
  DriftDetector test(kUsual);
  Service service(1);
  ASSERT_EQ(alarms(test, service, 100), 0);
  EXPECT_EQ(test.observe(50), DriftEvent::none);
  EXPECT_EQ(test.observe(50), DriftEvent::none);
  EXPECT_EQ(alarms(test, service, 100), 0);
}

TEST(DriftDetector, less_than_half_the_threshold_never_adds_up) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    DriftDetector test(kUsual);
    Service service(seed);
    EXPECT_EQ(alarms(test, service, 3 * 1440, 1.02), 0);
  }
}

TEST(DriftDetector, a_baseline_that_is_a_few_percent_off_is_no_alarm_and_hides_none) {
  constexpr int kWeeks = 10;
  constexpr double kOff = 1.03;
  int total = 0;
  int found = 0;
  for (std::uint64_t seed = 1; seed <= kWeeks; ++seed) {
    DriftDetector test(kUsual);
    Service service(seed);
    total += alarms(test, service, kWeek, kOff);
    EXPECT_GT(test.offset(), 0.01);
    found += alarms(test, service, 5, kOff * 1.10) == 1;
  }
  EXPECT_LE(total, 1);
  EXPECT_GE(found, kWeeks - 1);
}

TEST(DriftDetector, a_service_that_creeps_is_found_all_the_same) {
  DriftDetector test(kUsual);
  Service service(4);
  int found = 0;
  for (int hour = 1; hour <= 110; ++hour) found += alarms(test, service, 60, 1 + hour * 0.001);
  EXPECT_EQ(found, 1);
}

TEST(DriftDetector, says_how_much_slower_and_when_it_is_over) {
  DriftDetector test(kUsual);
  Service service(3);
  ASSERT_EQ(alarms(test, service, 200), 0);
  ASSERT_EQ(alarms(test, service, 20, 1.25), 1);
  EXPECT_NEAR(test.slow_down(), 1.25, 0.03);
  const auto interval = test.slow_down_interval();
  ASSERT_TRUE(interval);
  EXPECT_GT(interval->low, 1.15);
  EXPECT_LT(interval->high, 1.35);
  int recovered_after = -1;
  for (int i = 0; i < 10 && recovered_after < 0; ++i)
    if (test.observe(service.probe()) == DriftEvent::recovered) recovered_after = i + 1;
  EXPECT_GE(recovered_after, 3);
  EXPECT_LE(recovered_after, 5);
  EXPECT_EQ(test.slow_down(), 1);
}

TEST(DriftDetector, what_comes_on_top_is_told_and_a_lasting_slow_down_is_told_once) {
  DriftDetector test(kUsual);
  Service service(8);
  ASSERT_EQ(alarms(test, service, 100), 0);
  ASSERT_EQ(alarms(test, service, 10, 1.25), 1);
  for (int i = 0; i < kWeek; ++i) ASSERT_EQ(test.observe(service.probe(1.25)), DriftEvent::none) << i;
  int worse_after = -1;
  for (int i = 1; i <= 10 && worse_after < 0; ++i)
    if (test.observe(service.probe(1.6)) == DriftEvent::worse) worse_after = i;
  EXPECT_GE(worse_after, 3);
  EXPECT_LE(worse_after, 5);
  EXPECT_NEAR(test.slow_down(), 1.6, 0.05);
  int recovered = 0;
  for (int i = 0; i < 10; ++i) recovered += test.observe(service.probe()) == DriftEvent::recovered;
  EXPECT_EQ(recovered, 1);
}

TEST(DriftDetector, learns_how_noisy_the_probes_are) {
  DriftDetector quiet(kUsual);
  DriftDetector loud(kUsual);
  Service even(1, 0.008);
  Service uneven(1, 0.06);
  for (int i = 0; i < 200; ++i) {
    (void)quiet.observe(even.probe());
    (void)loud.observe(uneven.probe());
  }
  EXPECT_NEAR(quiet.probe_deviation(), 0.008, 0.003);
  EXPECT_NEAR(loud.probe_deviation(), 0.06, 0.02);
}

TEST(DriftDetector, a_figure_of_several_probes_says_more_and_nothing_of_the_noise) {
  DriftDetector once(kUsual);
  DriftDetector several(kUsual);
  Service service(3, 0.03);
  for (int i = 0; i < 60; ++i) {
    const double ratio = service.probe();
    (void)once.observe(ratio);
    (void)several.observe(ratio);
  }
  const auto steps = several.state().steps;
  (void)once.observe(1.06);
  (void)several.observe(1.06, 2);
  EXPECT_GT(once.state().rising, 0);
  EXPECT_NEAR(several.state().rising, 2 * once.state().rising, 1e-9);
  EXPECT_EQ(several.state().steps, steps);
  (void)several.observe(1.06);
  EXPECT_EQ(several.state().steps, steps) << "nor what comes after it";
}

TEST(DriftDetector, doubt_is_for_what_speaks_for_an_alarm_within_its_noise) {
  DriftDetector quiet(kUsual);
  DriftDetector noisy(kUsual);
  for (int i = 0; i < 60; ++i) {
    (void)quiet.observe(i % 2 == 0 ? 0.996 : 1.004);
    (void)noisy.observe(i % 2 == 0 ? 0.97 : 1.03);
  }
  EXPECT_FALSE(noisy.is_doubtful(1.03)) << "less than half the threshold";
  EXPECT_TRUE(noisy.is_doubtful(1.08));
  EXPECT_FALSE(noisy.is_doubtful(1.5)) << "counts for as much as one may";
  EXPECT_FALSE(quiet.is_doubtful(1.08)) << "clear by itself";
  EXPECT_FALSE(noisy.is_doubtful(0));
  EXPECT_FALSE(noisy.is_doubtful(std::nan("")));
  for (int i = 0; i < 5; ++i) (void)noisy.observe(1.5);
  ASSERT_TRUE(noisy.state().degraded);
  EXPECT_FALSE(noisy.is_doubtful(1.08)) << "known already";
}

TEST(DriftDetector, passes_over_what_is_no_ratio) {
  DriftDetector test(kUsual);
  for (const double ratio : {0.0, -1.0, std::nan(""), HUGE_VAL}) EXPECT_EQ(test.observe(ratio), DriftEvent::none);
  EXPECT_FALSE(test.state().last);
}

TEST(DriftDetector, goes_on_after_a_restart_as_if_there_had_been_none) {
  DriftDetector whole(kUsual);
  Service service(5);
  Service same(5);
  DriftDetector first(kUsual);
  for (int i = 0; i < 150; ++i) {
    (void)whole.observe(service.probe());
    (void)first.observe(same.probe());
  }
  const auto text = base::Json(first.state()).dump();
  DriftDetector second(kUsual, base::Json::parse(text).get<DriftDetector::State>());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(whole.observe(service.probe(1.2)), second.observe(same.probe(1.2))) << i;
  EXPECT_EQ(base::Json(whole.state()), base::Json(second.state()));
}

TEST(DriftDetector, looks_as_far_as_a_week_of_probes_or_a_hundred) {
  EXPECT_EQ(horizon_probes(60), 10080);
  EXPECT_EQ(horizon_probes(24 * 3600), 100);
}

}  // namespace
}  // namespace ridgeline::analysis
