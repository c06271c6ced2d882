// SPDX-License-Identifier: Apache-2.0
#include "analysis/machine_speed.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::analysis {
namespace {

/// With an interval of two standard errors on each side.
schema::SpeedReading reading(double at_s, double cost, double error = 0.01) {
  return {at_s, cost, cost * std::exp(-1.96 * error), cost * std::exp(1.96 * error)};
}

TEST(MachineSpeed, of_an_even_machine_is_a_line_that_is_surer_than_its_readings) {
  base::Random random(1);
  std::vector<schema::SpeedReading> readings;
  for (int i = 0; i < 20; ++i) readings.push_back(reading(i, 2e6 * std::exp(0.01 * random.normal())));
  const MachineSpeed speed(readings);
  for (const double at_s : {0.0, 7.5, 19.0}) {
    EXPECT_NEAR(speed.at(at_s).log_cost, std::log(2e6), 0.01) << at_s;
    EXPECT_LT(speed.at(at_s).error, 0.0095) << at_s;
  }
}

TEST(MachineSpeed, follows_a_drift_between_its_readings) {
  const auto drift = [](double at_s) { return 1 + 0.2 * std::sin(2 * std::numbers::pi * at_s / 20); };
  std::vector<schema::SpeedReading> readings;
  for (int i = 0; i <= 40; ++i) readings.push_back(reading(i * 0.5, 2e6 * drift(i * 0.5), 0.003));
  const MachineSpeed speed(readings);
  for (double at_s = 0.25; at_s < 20; at_s += 0.5) {
    const auto found = speed.at(at_s);
    EXPECT_NEAR(found.log_cost, std::log(2e6 * drift(at_s)), std::max(0.01, 3 * found.error)) << at_s;
  }
}

TEST(MachineSpeed, does_not_know_when_it_changed_between_two_readings_that_differ) {
  const MachineSpeed speed({reading(0, 1e6), reading(1, 1e6), reading(2, 1e6), reading(3, 2e6), reading(4, 2e6)});
  EXPECT_LT(speed.at(0.5).error, 0.02);
  EXPECT_GT(speed.at(2.5).error, 0.2);
  EXPECT_LT(speed.at(3.5).error, 0.02);
  EXPECT_NEAR(speed.at(3.5).log_cost, std::log(2e6), 0.02);
}

TEST(MachineSpeed, is_less_sure_the_longer_the_last_reading_is_ago) {
  const MachineSpeed speed({reading(0, 1e6), reading(1, 1.05e6), reading(2, 0.98e6), reading(3, 1.04e6)});
  EXPECT_GT(speed.at(10).error, speed.at(4).error);
  EXPECT_GT(speed.at(4).error, speed.at(3).error);
}

// A machine that was quiet for the first of eight readings only was called even, at twice the time.
TEST(MachineSpeed, quiet_is_what_few_readings_reach) {
  std::vector<schema::SpeedReading> readings{reading(0, 1e6)};
  for (int i = 1; i < 8; ++i) readings.push_back(reading(i, 2e6));
  EXPECT_NEAR(MachineSpeed(readings).quiet_log_cost(), std::log(1e6), 0.01);
}

// A tenth of 52 readings are five; the machine was quiet for three of them.
TEST(MachineSpeed, quiet_is_what_it_surely_was_however_rarely) {
  std::vector<schema::SpeedReading> readings;
  for (int i = 0; i < 52; ++i) readings.push_back(reading(i, i == 20 || i == 21 || i == 40 ? 7.6e6 : 12.5e6));
  EXPECT_NEAR(MachineSpeed(readings).quiet_log_cost(), std::log(7.6e6), 0.05);
}

TEST(MachineSpeed, noise_makes_no_quiet_level) {
  base::Random random(7);
  std::vector<schema::SpeedReading> readings;
  for (int i = 0; i < 200; ++i) readings.push_back(reading(i, 1e6 * std::exp(0.05 * random.normal()), 0.05));
  EXPECT_NEAR(MachineSpeed(readings).quiet_log_cost(), std::log(1e6), 0.05);
}

TEST(MachineSpeed, the_order_of_the_readings_does_not_matter_and_senseless_ones_are_left_out) {
  const MachineSpeed speed({reading(2, 2e6), {1, 0, 0, 0}, reading(0, 1e6)});
  EXPECT_NEAR(speed.at(0).log_cost, std::log(1e6), 0.01);
  EXPECT_NEAR(speed.at(2).log_cost, std::log(2e6), 0.01);
  EXPECT_TRUE(MachineSpeed({}).empty());
  EXPECT_EQ(MachineSpeed({}).quiet_log_cost(), 0);
}

}  // namespace
}  // namespace ridgeline::analysis
