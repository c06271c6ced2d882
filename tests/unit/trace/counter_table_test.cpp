// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/counter_table.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "trace/analysis/tables.hpp"
#include "trace/import/ncu_import.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

class CounterTableTest : public ::testing::Test, public TraceBuilder {
 protected:
  [[nodiscard]] std::vector<schema::ProfileKernel> rows() const {
    auto kernels = tables_of(AnalysedTrace(trace)).kernels;
    add_counters(trace, counters, join_counters(trace, counters), kernels);
    return kernels;
  }
  void counted(std::string_view name) {
    counters.name.push_back(counters.strings.id(name));
    counters.grid.push_back({1000, 1, 1});
    counters.block.push_back({128, 1, 1});
  }
  KernelCounters counters;
};

TEST_F(CounterTableTest, sums_least_and_most_over_the_launches_that_have_them) {
  for (std::int64_t i = 0; i < 3; ++i) kernel("f", 100 * i, 100 * i + 50, 0);
  kernel("g", 1000, 1010, 0);
  for (int i = 0; i < 3; ++i) counted("f");
  counters.metrics = {{"lts__t_bytes.sum", "byte", {10, std::nan(""), 40}},
                      {"device__attribute_chip", "", {1, 1, 1}},
                      {"dram__bytes_read.sum", "byte", {1, 2, 3}},
                      {"huge", "", {1.5e308, 1.5e308, 1}},
                      {"empty", "", {std::nan(""), std::nan(""), std::nan("")}}};
  const auto kernels = rows();
  ASSERT_EQ(kernels.size(), 2U);
  ASSERT_EQ(kernels[0].counters.size(), 3U) << "by name, without what is the machine's or nobody's";
  EXPECT_EQ(kernels[0].counters[0].name, "dram__bytes_read.sum");
  EXPECT_EQ(kernels[0].counters[0].launches, 3);
  EXPECT_EQ(kernels[0].counters[1].launches, 2) << "what no sum can hold is left out";
  const auto& l2 = kernels[0].counters[2];
  EXPECT_EQ(l2.unit, "byte");
  EXPECT_EQ(l2.launches, 2);
  EXPECT_EQ(l2.sum, 50);
  EXPECT_EQ(l2.mean(), 25);
  EXPECT_EQ(l2.least, 10);
  EXPECT_EQ(l2.most, 40);
  EXPECT_TRUE(kernels[1].counters.empty());
}

TEST_F(CounterTableTest, those_of_a_real_recording) {
  auto read = import_ncu(std::string(RL_TEST_DATA) + "/traces/ncu_resnet50.csv.gz");
  ASSERT_TRUE(read) << read.error().message;
  counters = std::move(*read);
  // The launches that it has, one behind the other.
  for (Place row = 0; row < counters.size(); ++row) {
    kernel(counters.strings.text(counters.name[row]), 1000 * row, 1000 * row + 900, 0, 7, counters.grid[row]);
    trace.kernels.block.back() = counters.block[row];
  }
  double read_bytes = 0;
  std::int64_t launches = 0;
  for (const auto& row : rows())
    for (const auto& counter : row.counters) {
      if (counter.name == "dram__bytes_read.sum") read_bytes += counter.sum;
      if (counter.name == "launch__registers_per_thread") launches += counter.launches;
    }
  EXPECT_NEAR(read_bytes, 611'223'296.0, 1e3) << "summed by a CSV reader of another language";
  EXPECT_EQ(launches, 400);
}

}  // namespace
}  // namespace ridgeline::trace
