// SPDX-License-Identifier: Apache-2.0
#include "monitor/history.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "fakes/machine_snapshot.hpp"

namespace ridgeline::monitor {
namespace {

TEST(History, gives_the_newest_first_and_forgets_the_oldest) {
  History history(4);
  auto snapshot = fakes::busy_machine();
  for (int i = 1; i <= 6; ++i) {
    snapshot.gpus[0].power_w = 100.0 * i;
    history.add(snapshot);
  }
  EXPECT_EQ(history.size(), 4U);
  EXPECT_EQ(history.at(0, Series::power, 0), 600);
  EXPECT_EQ(history.at(0, Series::power, 3), 300);
  EXPECT_TRUE(std::isnan(history.at(0, Series::power, 4)));
  EXPECT_EQ(history.at(HostSeries::cpu, 0), 34);
  EXPECT_NEAR(history.at(0, Series::memory, 0), 100.0 * 60 / 140, 1e-3);
}

TEST(History, knows_the_time_between_readings) {
  History history(4);
  EXPECT_EQ(history.seconds_back(10), 0);
  auto snapshot = fakes::busy_machine();
  for (const double at : {1.0, 2.0, 4.0, 8.0, 16.0}) {
    snapshot.since_start_s = at;
    history.add(snapshot);
  }
  EXPECT_EQ(history.seconds_back(0), 0);
  EXPECT_EQ(history.seconds_back(1), 8);
  EXPECT_EQ(history.seconds_back(3), 14);
  EXPECT_EQ(history.seconds_back(100), 14) << "what is forgotten does not count";
}

TEST(History, has_holes_where_nothing_was_read) {
  History history(8);
  auto snapshot = fakes::busy_machine();
  history.add(snapshot);
  snapshot.gpus[0].state = GpuState::lost;
  history.add(snapshot);
  snapshot.gpus.clear();
  history.add(snapshot);
  snapshot.gpus = {fakes::busy_gpu(0), fakes::busy_gpu(3)};
  history.add(snapshot);
  EXPECT_EQ(history.at(0, Series::temperature, 0), 61);
  EXPECT_TRUE(std::isnan(history.at(0, Series::temperature, 1)));
  EXPECT_TRUE(std::isnan(history.at(0, Series::temperature, 2)));
  EXPECT_EQ(history.at(0, Series::temperature, 3), 61);
  EXPECT_EQ(history.at(3, Series::temperature, 0), 61);
  EXPECT_TRUE(std::isnan(history.at(3, Series::temperature, 1))) << "was not there yet";
  EXPECT_TRUE(std::isnan(history.at(7, Series::temperature, 0)));
}

}  // namespace
}  // namespace ridgeline::monitor
