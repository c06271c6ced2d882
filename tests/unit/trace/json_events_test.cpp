// SPDX-License-Identifier: Apache-2.0
#include "trace/import/json_events.hpp"

#include <zlib.h>

#include "base/json.hpp"
#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

class JsonEventsTest : public TraceFilesTest {
 protected:
  /// All events of a file, read as a JSON array.
  base::Json all(const std::string& path) {
    auto events = JsonEvents::open(path);
    EXPECT_TRUE(events) << events.error().message;
    auto out = base::Json::array();
    batches_ = 0;
    for (;;) {
      const auto batch = events->next();
      EXPECT_TRUE(batch) << batch.error().message;
      if (!batch || !*batch) break;
      ++batches_;
      for (auto& event : base::Json::parse(**batch)) out.push_back(event);
    }
    cut_off_ = events->cut_off();
    others_ = events->others();
    return out;
  }

  int batches_ = 0;
  bool cut_off_ = false;
  std::map<std::string, std::string, std::less<>> others_;
};

TEST_F(JsonEventsTest, gives_events_of_both_forms_and_what_is_beside_them) {
  const std::string events = R"([{"a":1}, {"b":"]},{\"\\"} , {"c":[{}]}])";
  EXPECT_EQ(all(write(events)), base::Json::parse(events));
  EXPECT_FALSE(cut_off_);
  EXPECT_EQ(all(write(R"({"x":[1,{"traceEvents":[]}],"deviceProperties": [{"id":0}] ,"traceEvents":)" + events +
                      R"(, "baseTimeNanoseconds": 12, "z":"\""})")),
            base::Json::parse(events));
  EXPECT_EQ(others_.at("deviceProperties"), "[{\"id\":0}]");
  EXPECT_EQ(others_.at("baseTimeNanoseconds"), "12");
  EXPECT_EQ(others_.size(), 2U);
  EXPECT_EQ(all(write(R"({"traceEvents":[]})")), base::Json::array());
}

TEST_F(JsonEventsTest, depth_has_no_limit) {
  const std::string deep = R"({"a":)" + std::string(100, '[') + "7" + std::string(100, ']') + R"(,"b":{"c":1}})";
  EXPECT_EQ(all(write("[" + deep + ",{\"d\":1}," + deep + "]")).size(), 3U);
  EXPECT_FALSE(cut_off_);
}

TEST_F(JsonEventsTest, reads_large_files_in_batches_plain_and_compressed) {
  auto events = base::Json::array();
  for (int i = 0; i < 60'000; ++i)
    events.push_back({{"name", std::string(static_cast<std::size_t>(i % 200), i % 3 == 0 ? '"' : '\\')}, {"ts", i}});
  const auto text = base::Json{{"traceEvents", events}}.dump();
  EXPECT_EQ(all(write(text)), events);
  EXPECT_GT(batches_, 2);
  const auto path = (folder_ / "trace.json.gz").string();
  auto* file = ::gzopen(path.c_str(), "wb1");
  ASSERT_EQ(::gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  ::gzclose(file);
  EXPECT_EQ(all(path), events);
  // Cut off in the compressed bytes: what can be unpacked counts.
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto half = all(path);
  EXPECT_TRUE(cut_off_);
  EXPECT_GT(half.size(), 1000U);
  EXPECT_LT(half.size(), events.size());
}

TEST_F(JsonEventsTest, recovers_what_lies_before_a_cut) {
  const std::string whole = R"({"traceEvents":[{"a":1},{"b":[2,"x{"]},{"c":3}],"z":1})";
  const auto first = whole.find("{\"a");
  for (std::size_t size = first; size < whole.find("],\"z"); ++size) {
    const auto found = all(write(whole.substr(0, size)));
    EXPECT_TRUE(cut_off_) << size;
    EXPECT_EQ(found.size(), (size >= whole.find(",{\"b") ? 1U : 0U) + (size >= whole.find(",{\"c") ? 1U : 0U) +
                                (size >= whole.find("],\"z") ? 1U : 0U))
        << size;
  }
}

TEST_F(JsonEventsTest, refuses_what_is_no_trace_in_one_line) {
  for (const auto& [content, words] :
       std::vector<std::pair<std::string, std::string>>{{"", "empty"},
                                                        {"   \n", "empty"},
                                                        {"hello", "not JSON"},
                                                        {"{\"a\":1}", "no traceEvents"},
                                                        {"{\"traceEvents\":7}", "no traceEvents"},
                                                        {"{\"traceEvents", "no traceEvents"},
                                                        {std::string(3, '\0'), "not JSON"},
                                                        {"{" + std::string(100, '{'), "no traceEvents"}}) {
    const auto events = JsonEvents::open(write(content));
    ASSERT_FALSE(events) << content;
    EXPECT_NE(events.error().message.find(words), std::string::npos) << events.error().message;
    EXPECT_EQ(events.error().message.find('\n'), std::string::npos);
  }
  const auto none = JsonEvents::open((folder_ / "none.json").string());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::ErrorCode::io);
}

TEST_F(JsonEventsTest, ends_at_an_event_without_end) {
  auto events = JsonEvents::open(write("[{\"a\":\"" + std::string(70 << 20, 'x')));
  ASSERT_TRUE(events);
  const auto batch = events->next();
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().code, base::ErrorCode::corrupt);
}

}  // namespace
}  // namespace ridgeline::trace
