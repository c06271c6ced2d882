// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/gpu_counters.hpp"

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "fakes/temporary_folder.hpp"
#include "trace/export/chrome_export.hpp"
#include "trace/file/trace_reader.hpp"
#include "trace/file/trace_writer.hpp"
#include "trace/messages.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kPowerCap = 0x4;
constexpr std::int64_t kHeat = 0x20;
constexpr std::int64_t kIdle = 0x1;

class GpuCountersTest : public ::testing::Test {
 protected:
  /// Three steps from 1 to 4 ms.
  GpuCountersTest() {
    for (int step = 0; step < 3; ++step) {
      const auto begin = 1'000'000 * (step + 1);
      builder_.annotation("ProfilerStep#" + std::to_string(step), begin, begin + 990'000);
      builder_.launch("gemm", begin + 10'000, begin + 20'000, begin + 900'000);
    }
  }
  void sample(std::int64_t time_ns, std::int32_t sm_mhz, std::int64_t reasons, std::int32_t device = 0) {
    builder_.trace.gpu_samples.push_back({time_ns, device, sm_mhz, 2'000, 650'000, 71, reasons});
  }
  std::vector<schema::Message> notes() const { return throttle_notes(AnalysedTrace(builder_.trace)); }

  TraceBuilder builder_;
};

TEST_F(GpuCountersTest, throttling_in_the_recorded_steps_is_reported_with_its_reasons_and_clocks) {
  sample(500'000, 900, kHeat);  // before them
  sample(1'500'000, 1'980, kIdle);
  sample(2'000'000, 1'410, kPowerCap);
  sample(2'500'000, 1'500, kPowerCap | kHeat);
  sample(3'000'000, 1'980, 0);
  sample(9'000'000, 300, kHeat);
  const auto found = notes();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], messages::recorded_while_throttled({.gpu = "0",
                                                          .share = 0.5,
                                                          .steps = true,
                                                          .reasons = {"sw_power_cap", "sw_thermal_slowdown"},
                                                          .low = 1'410,
                                                          .high = 1'980}));
}

TEST_F(GpuCountersTest, nothing_is_reported_without_throttling_or_without_reasons) {
  sample(1'500'000, 1'980, kIdle);
  sample(2'000'000, 1'980, 0);
  sample(2'500'000, 300, -1);  // not readable
  EXPECT_TRUE(notes().empty());
}

TEST_F(GpuCountersTest, counters_are_those_that_are_known) {
  sample(1'000'000, 1'980, -1);
  sample(1'100'000, -1, -1);
  sample(1'200'000, 1'410, -1, 1);
  const auto counters = gpu_counters(builder_.trace);
  std::vector<std::string> names;
  for (const auto& counter : counters) names.push_back(counter.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"GPU 0 SM clock", "GPU 0 memory clock", "GPU 0 power", "GPU 0 temperature",
                                      "GPU 1 SM clock", "GPU 1 memory clock", "GPU 1 power", "GPU 1 temperature"}));
  EXPECT_EQ(counters[0].values, (std::vector<std::pair<std::int64_t, std::int64_t>>{{1'000'000, 1'980}}));
  EXPECT_EQ(counters[2].values.size(), 2U);
  EXPECT_EQ(counters[2].unit, "mW");
}

TEST_F(GpuCountersTest, samples_are_in_the_file_and_in_the_timeline) {
  sample(1'500'000, 1'410, kPowerCap, 3);
  sample(1'600'000, -1, -1);
  const fakes::TemporaryFolder folder;
  const auto path = (folder / "run.rltrace").string();
  ASSERT_TRUE(write_trace_file(builder_.trace, path));
  const auto read = read_trace_file(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->notes.empty());
  ASSERT_EQ(read->gpu_samples.size(), 2U);
  const auto& first = read->gpu_samples[0];
  EXPECT_EQ(first.time_ns, 1'500'000);
  EXPECT_EQ(first.device, 3);
  EXPECT_EQ(first.sm_mhz, 1'410);
  EXPECT_EQ(first.memory_mhz, 2'000);
  EXPECT_EQ(first.power_mw, 650'000);
  EXPECT_EQ(first.temperature_c, 71);
  EXPECT_EQ(first.reasons, kPowerCap);
  EXPECT_EQ(read->gpu_samples[1].reasons, -1);
  EXPECT_EQ(read->kernels.size(), 3U);

  const auto chrome = (folder / "run.json").string();
  ASSERT_TRUE(write_chrome_json(*read, chrome));
  const auto text = base::read_file(chrome).value_or("");
  EXPECT_NE(text.find(R"("ph":"C","cat":"gpu_sample","name":"GPU 3 SM clock")"), std::string::npos);
  EXPECT_NE(text.find(R"("args":{"MHz":1410})"), std::string::npos);
  EXPECT_TRUE(base::parse_json(text, chrome));
}

}  // namespace
}  // namespace ridgeline::trace
