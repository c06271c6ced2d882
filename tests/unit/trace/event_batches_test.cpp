// SPDX-License-Identifier: Apache-2.0
#include "trace/import/event_batches.hpp"

#include "base/json.hpp"
#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

class EventBatchesTest : public TraceFilesTest {
 protected:
  void expect_all(std::size_t count, std::size_t least_batches) {
    auto written = base::Json::array();
    for (std::size_t i = 0; i < count; ++i) written.push_back({{"name", std::string(200, 'x')}, {"ts", i}});
    auto events = JsonEvents::open(write(base::Json{{"traceEvents", written}, {"baseTimeNanoseconds", 12}}.dump()));
    ASSERT_TRUE(events) << events.error().message;
    auto read = base::Json::array();
    std::size_t batches = 0;
    {
      EventBatches all(*events);
      for (;; ++batches) {
        const auto batch = all.next();
        ASSERT_TRUE(batch) << batch.error().message;
        if (!*batch) break;
        for (auto& event : base::Json::parse(**batch)) read.push_back(event);
      }
      EXPECT_FALSE(all.next()->has_value()) << "asked again";
    }
    EXPECT_TRUE(read == written);
    EXPECT_GE(batches, least_batches);
    EXPECT_EQ(events->others().at("baseTimeNanoseconds"), "12") << "from behind the events";
  }
};

TEST_F(EventBatchesTest, a_file_without_events_has_no_batch) { expect_all(0, 0); }
TEST_F(EventBatchesTest, a_small_file_is_one_batch) { expect_all(3, 1); }
TEST_F(EventBatchesTest, a_large_file_is_read_ahead) { expect_all(60'000, 3); }

TEST_F(EventBatchesTest, may_be_left_before_the_end) {
  auto written = base::Json::array();
  for (int i = 0; i < 60'000; ++i) written.push_back({{"name", std::string(200, 'x')}});
  auto events = JsonEvents::open(write(written.dump()));
  ASSERT_TRUE(events) << events.error().message;
  EventBatches all(*events);
  EXPECT_TRUE(all.next()->has_value());
}

}  // namespace
}  // namespace ridgeline::trace
