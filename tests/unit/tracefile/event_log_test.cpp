// SPDX-License-Identifier: Apache-2.0
#include "tracefile/event_log.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"
#include "trace/file/trace_reader.hpp"

namespace ridgeline::trace {
namespace {

class EventLogTest : public ::testing::Test {
 protected:
  [[nodiscard]] EventLog create() const {
    auto log = EventLog::create(path_);
    EXPECT_TRUE(log);
    return *std::move(log);
  }
  static void add_kernel(EventLog& log, std::int64_t start, const char* name, std::int64_t stream) {
    auto& kernels = log.events.kernels;
    kernels.add(start, 10, log.name(name), log.gpu_lane({7, 0, 1, stream}), start);
    kernels.grid.push_back({1, 2, 3});
    kernels.block.push_back({32, 1, 1});
    kernels.registers.push_back(40);
    kernels.shared_bytes.push_back(0);
    kernels.graph_node.push_back(0);
  }
  static void add_range(EventLog& log, std::int64_t start, const char* name) {
    auto& ranges = log.events.ranges;
    ranges.add(start, 100, log.name(name), log.thread_lane({7, 8}), 0);
    ranges.kind.push_back(RangeKind::annotation);
    ranges.sequence.push_back(-1);
    ranges.forward_thread.push_back(0);
  }
  [[nodiscard]] Trace read() const {
    auto trace = read_trace_file(path_);
    EXPECT_TRUE(trace) << trace.error().message;
    return *std::move(trace);
  }

  fakes::TemporaryFolder folder_;
  std::string path_ = (folder_ / "7.rltrace").string();
};

TEST_F(EventLogTest, what_was_flushed_is_a_trace_whose_names_and_lanes_go_on) {
  auto log = create();
  log.add(Device{0, "H200", 132, "9.0", 4'800'000'000'000});
  add_kernel(log, 100, "gemm", 3);
  add_range(log, 90, "forward");
  ASSERT_TRUE(log.flush());
  EXPECT_EQ(log.events.kernels.size(), 0U);
  add_kernel(log, 200, "gemm", 4);
  add_kernel(log, 300, "softmax", 3);
  ASSERT_TRUE(log.finish());
  EXPECT_EQ(log.written(), 4U);
  EXPECT_EQ(log.bytes(), std::filesystem::file_size(path_));

  const auto trace = read();
  ASSERT_EQ(trace.kernels.size(), 3U);
  EXPECT_EQ(trace.strings.text(trace.kernels.name[1]), "gemm");
  EXPECT_EQ(trace.strings.text(trace.kernels.name[2]), "softmax");
  EXPECT_EQ(trace.gpu_lanes.at(trace.kernels.lane[1]).stream, 4);
  EXPECT_EQ(trace.kernels.lane[2], trace.kernels.lane[0]);
  ASSERT_EQ(trace.ranges.size(), 1U);
  EXPECT_EQ(trace.thread_lanes.at(trace.ranges.lane[0]), (ThreadLane{7, 8}));
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].memory_bytes_per_s, 4'800'000'000'000);
  EXPECT_TRUE(trace.notes.empty());
}

TEST_F(EventLogTest, a_program_that_is_killed_leaves_what_was_flushed) {
  auto log = create();
  add_kernel(log, 100, "gemm", 3);
  ASSERT_TRUE(log.flush());
  add_kernel(log, 200, "lost", 3);
  const auto trace = read();
  EXPECT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(trace.notes.size(), 1U);  // the file ends early
}

TEST_F(EventLogTest, more_rows_than_a_block_has_are_all_there) {
  auto log = create();
  constexpr auto kRows = static_cast<std::int64_t>(kMostBlockEvents) + 5;
  for (std::int64_t i = 0; i < kRows; ++i) add_kernel(log, 20 * i, "k", 1);
  ASSERT_TRUE(log.finish());
  EXPECT_EQ(read().kernels.size(), static_cast<std::size_t>(kRows));
}

TEST_F(EventLogTest, a_folder_that_is_missing_is_named) {
  const auto log = EventLog::create((folder_ / "none" / "7.rltrace").string());
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().message.find("none/7.rltrace"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::trace
