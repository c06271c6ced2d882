// SPDX-License-Identifier: Apache-2.0
#include "monitor/csv_recorder.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "fakes/machine_snapshot.hpp"

namespace ridgeline::monitor {
namespace {

class CsvRecorderTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / fmt::format("rl_csv_{}", ::getpid());
  std::filesystem::path path_ = folder_ / "gpus.csv";
};

TEST_F(CsvRecorderTest, writes_a_line_a_gpu_with_as_many_cells_as_columns) {
  auto snapshot = fakes::busy_machine();
  snapshot.gpus.push_back(fakes::busy_gpu(1));
  snapshot.gpus[1].sm_percent.reset();
  snapshot.gpus[1].slowdown_reasons = {"sw_power_cap", "sw_thermal_slowdown"};
  {
    auto recorder = CsvRecorder::open(path_).value();
    ASSERT_TRUE(recorder.write(snapshot));
  }
  const auto lines = base::split(base::read_file(path_).value(), '\n');
  ASSERT_EQ(lines.size(), 4U);
  const auto columns = base::split(lines[0], ',');
  const auto at = [&](const char* name) {
    return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
  };
  const auto second = base::split(lines[2], ',');
  ASSERT_EQ(second.size(), columns.size());
  EXPECT_EQ(second[at("uuid")], "GPU-fake-1");
  EXPECT_EQ(second[at("power_w")], "482.250");
  EXPECT_EQ(second[at("memory_total_bytes")], "150323855360");
  EXPECT_EQ(second[at("sm_percent")], "");
  EXPECT_EQ(second[at("slowdown_reasons")], "sw_power_cap+sw_thermal_slowdown");
}

TEST_F(CsvRecorderTest, continues_a_recording_without_a_second_header) {
  for (int i = 0; i < 2; ++i) {
    auto recorder = CsvRecorder::open(path_).value();
    ASSERT_TRUE(recorder.write(fakes::busy_machine()));
  }
  const auto text = base::read_file(path_).value();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_EQ(text.rfind("time_utc,"), 0U);
}

TEST_F(CsvRecorderTest, loses_only_the_line_that_a_power_cut_tore) {
  const auto snapshot = fakes::busy_machine();
  std::ofstream(path_) << csv_header() << csv_lines(snapshot) << "partial,line";
  for (int i = 0; i < 2; ++i) {
    auto recorder = CsvRecorder::open(path_).value();
    ASSERT_TRUE(recorder.write(snapshot));
  }
  const auto line = csv_lines(snapshot);
  EXPECT_EQ(base::read_file(path_).value(), csv_header() + line + "partial,line\n" + line + line);
}

TEST_F(CsvRecorderTest, completes_a_header_that_a_power_cut_tore) {
  const auto header = csv_header();
  for (const auto there : {std::size_t{9}, header.size() - 1}) {
    std::ofstream(path_) << header.substr(0, there);
    ASSERT_TRUE(CsvRecorder::open(path_));
    EXPECT_EQ(base::read_file(path_).value(), header) << there;
  }
}

TEST_F(CsvRecorderTest, records_the_host_where_there_is_no_gpu) {
  auto snapshot = fakes::busy_machine();
  snapshot.gpus.clear();
  const auto line = csv_lines(snapshot);
  EXPECT_EQ(base::split(line, ',').size(), base::split(csv_header(), ',').size());
  EXPECT_EQ(line.rfind("2026-11-21T12:00:00Z,754.000,,,,", 0), 0U) << line;
}

TEST_F(CsvRecorderTest, refuses_a_file_that_is_something_else) {
  std::ofstream(path_) << "name,price\n";
  const auto recorder = CsvRecorder::open(path_);
  ASSERT_FALSE(recorder);
  EXPECT_NE(recorder.error().message.find("no recording"), std::string::npos);
  EXPECT_EQ(base::read_file(path_).value(), "name,price\n");
  EXPECT_EQ(CsvRecorder::open(folder_ / "nowhere/x.csv").error().code, base::ErrorCode::io);
}

TEST_F(CsvRecorderTest, says_when_the_disk_is_full) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const auto recorder = CsvRecorder::open("/dev/full");
  ASSERT_FALSE(recorder);
  EXPECT_EQ(recorder.error().message, "--csv /dev/full: cannot write: No space left on device");
}

}  // namespace
}  // namespace ridgeline::monitor
