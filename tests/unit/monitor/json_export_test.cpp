// SPDX-License-Identifier: Apache-2.0
#include "monitor/json_export.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "fakes/machine_snapshot.hpp"

namespace ridgeline::monitor {
namespace {

TEST(JsonExport, has_units_in_its_keys_and_null_for_the_unknown) {
  auto snapshot = fakes::busy_machine();
  snapshot.gpus[0].fan_percent.reset();
  snapshot.gpus[0].occupancy_percent = std::numeric_limits<double>::quiet_NaN();
  const auto json = json_of(snapshot);
  const auto& gpu = json["gpus"][0];
  EXPECT_EQ(gpu["power_w"], 482.25);
  EXPECT_TRUE(gpu["memory_used_bytes"].is_number_integer());
  EXPECT_EQ(gpu["memory_used_bytes"], 64424509440);
  EXPECT_EQ(gpu["sm_clock_mhz"], 1935);
  EXPECT_TRUE(gpu["fan_percent"].is_null());
  EXPECT_TRUE(gpu["occupancy_percent"].is_null());
  EXPECT_EQ(gpu["state"], "ok");
  EXPECT_EQ(gpu["slowdown_total_s"]["sw_power_cap"], 100.0);
  EXPECT_EQ(json["host"]["cpus"], 64);
  EXPECT_EQ(json["processes"][1]["container"], "docker:0123456789ab");
  EXPECT_EQ(json["processes"][0]["cpu_percent"], 210);
}

TEST(JsonExport, has_the_same_keys_whatever_is_known) {
  Snapshot empty;
  empty.gpus.emplace_back();
  empty.processes.emplace_back();
  const auto full = json_of(fakes::busy_machine());
  const auto none = json_of(empty);
  const auto keys = [](const base::Json& json) {
    std::vector<std::string> names;
    for (const auto& item : json.items()) names.push_back(item.key());
    return names;
  };
  EXPECT_EQ(keys(full), keys(none));
  EXPECT_EQ(keys(full["gpus"][0]), keys(none["gpus"][0]));
  EXPECT_EQ(keys(full["processes"][0]), keys(none["processes"][0]));
  EXPECT_EQ(keys(full["host"]), keys(none["host"]));
}

TEST(JsonExport, has_the_processes_that_were_asked_for_in_their_order) {
  const auto snapshot = fakes::busy_machine();
  ProcessOrder order;
  order.key = SortKey::pid;
  order.descending = false;
  const auto sorted = json_of(snapshot, order)["processes"];
  ASSERT_EQ(sorted.size(), snapshot.processes.size());
  for (std::size_t i = 1; i < sorted.size(); ++i) EXPECT_LE(sorted[i - 1]["pid"], sorted[i]["pid"]);
  order.filter = "persistenced";
  ASSERT_EQ(json_of(snapshot, order)["processes"].size(), 1U);
}

}  // namespace
}  // namespace ridgeline::monitor
