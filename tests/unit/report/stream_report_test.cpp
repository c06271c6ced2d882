// SPDX-License-Identifier: Apache-2.0
#include "report/stream/stream_report.hpp"

#include <gtest/gtest.h>

#include "fakes/stream_runs.hpp"
#include "fakes/words.hpp"
#include "golden.hpp"
#include "report/messages/message_reader.hpp"
#include "report/renderers.hpp"
#include "report/stream/stream_charts.hpp"
#include "report/stream/stream_comparison_text.hpp"
#include "schema/error_message.hpp"
#include "schema/messages.hpp"

namespace ridgeline::report {
namespace {

schema::StreamRun run_of_rates() {
  auto run = fakes::stream_run("20261126-100000-aaaa", 96, 50, 5);
  run.request.rates = {50, 100, 200};
  for (const double rate : run.request.rates) {
    schema::StreamPoint point{rate, run.status, run.moments, {}};
    point.status.delivered_per_s = 0.96 * rate;
    point.status.latency.p50 = rate / 5;
    point.status.latency.p99 = rate / 2;
    point.verdict.passed = rate < 200;
    run.points.push_back(point);
  }
  run.verdict = {
      false, {schema::messages::foreign("200 FPS per source: p99 is 100.0 ms, above the SLO of 60 ms")}, 100};
  return run;
}

TEST(StreamReport, shows_latency_against_load) {
  expect_golden("stream_rates.md", render_markdown(build_stream_report(fakes::words(), run_of_rates())));
}

TEST(StreamReport, has_charts_where_there_is_something_to_show) {
  const auto run = run_of_rates();
  const auto load = stream_load_chart(fakes::words(), run);
  ASSERT_TRUE(load);
  EXPECT_EQ(load->option["series"].size(), 4U) << "p50, p99, the limit, drops";
  EXPECT_EQ(load->option["series"][1]["data"].dump(), "[[50.0,25.0],[100.0,50.0],[200.0,100.0]]");
  EXPECT_TRUE(stream_time_chart(fakes::words(), run));
  const auto gpu = stream_gpu_chart(fakes::words(), run);
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->alternative, "Busy up to 80 %, Memory up to 11.2 GiB, Power up to 400 W, Temperature up to 60 °C.");
  auto bare = run;
  bare.points.clear();
  for (auto& moment : bare.moments) moment.gpu.reset();
  EXPECT_FALSE(stream_load_chart(fakes::words(), bare));
  EXPECT_FALSE(stream_gpu_chart(fakes::words(), bare));
  bare.moments.resize(1);
  EXPECT_FALSE(stream_time_chart(fakes::words(), bare));
}

TEST(StreamReport, names_what_was_judged) {
  auto run = fakes::stream_run("a", 100, 50);
  run.verdict.emplace();
  run.request.spec.load.emplace().process = "poisson";
  EXPECT_EQ(fakes::text_of(verdict_title(run)), "Kept up with the load");
  run.request.spec.load->process = "offline";
  EXPECT_EQ(fakes::text_of(verdict_title(run)), "The peak was measured");
  run.verdict->passed = false;
  EXPECT_EQ(fakes::text_of(verdict_title(run)), "The peak is not sustained");
}

TEST(StreamReport, json_has_words_beside_what_is_said) {
  auto run = fakes::stream_run("a", 100, 50);
  run.error = schema::message_of({base::ErrorCode::crashed, "the pipeline died", "look at it"});
  run.status.audit = schema::lateness_message({0.05, 0.2, 0.6, 0}, false, false);
  run.notes.push_back(base::Json("as an older version had it").get<schema::Message>());
  const auto json = stream_json(fakes::words(), run);
  EXPECT_EQ(json["schema_version"], 2);
  EXPECT_EQ(json["error"]["text"], "the pipeline died");
  EXPECT_EQ(json["error"]["hint"], "look at it");
  EXPECT_EQ(json["error"]["severity"], "error");
  EXPECT_EQ(json["status"]["audit"]["code"], "schema.stream_lateness");
  EXPECT_EQ(json["status"]["audit"]["arguments"]["p999"], 0.05 * 1e6);
  EXPECT_EQ(json["status"]["audit"]["text"], "load generator: p99.9 of lateness 0.050 ms, at most 0.600 ms");
  EXPECT_TRUE(json["status"]["last_failure"].is_null());
  EXPECT_EQ(json["notes"][0]["text"], "as an older version had it");
}

TEST(StreamReport, sentences_of_older_records_are_found_again) {
  MessageReader reader(fakes::words());
  for (const auto& [text, code] : std::map<std::string, std::string>{
           {"load generator: p99.9 of lateness 5.941 ms, above the limit of 1.000 ms", "schema.stream_lateness"},
           {"load generator: p99.9 of lateness 0.050 ms, at most 0.600 ms", "schema.stream_lateness"},
           {"60 offered, 50 delivered + 10 dropped + 0 in flight", "stream.check_counts"},
           {"0.061 frames in the pipeline, 20.3 frames/s x 3.021 ms = 0.061", "stream.check_little"},
           {"stages add up to 181.449 ms, end to end 181.449 ms", "stream.check_stages"},
           {"decoder none: o of 2: no decoder reads these; --stream decoder=NAME names one",
            "stream.decoder_not_found"},
           {"decoder yolo: o of 84x8400: boxes in columns of 4 + 80 classes", "stream.decoder_found"},
           {"p99 is 80.0 ms, above the SLO of 60 ms", "campaign.stream_p99_above_slo"},
           {"99.63 % of the frames were dropped, above 0.1 %", "campaign.stream_dropped"},
           {"a.mp4: ends early, after 20 frames: the file ends", "stream.ends_early"}}) {
    const auto message = reader.read(text);
    EXPECT_EQ(message.code(), code) << text;
    EXPECT_EQ(fakes::text_of(message), text);
  }
}

// "Held up to 75 and not above" was said of a rate whose load was late itself.
TEST(StreamReport, says_of_a_late_load_that_it_is_no_answer) {
  auto run = run_of_rates();
  EXPECT_EQ(fakes::text_of(verdict_title(run)), "Kept up with 100 FPS per source, but not with more");
  run.points.back().status.is_void = true;
  EXPECT_EQ(fakes::text_of(verdict_title(run)),
            "Kept up with 100 FPS per source; above, no answer: the load generator was late");
  EXPECT_NE(render_markdown(build_stream_report(fakes::words(), run)).find("| void |"), std::string::npos);
  run.verdict->held_per_s = 0;
  for (auto& point : run.points) point.verdict.passed = false;
  EXPECT_EQ(fakes::text_of(verdict_title(run)), "Kept up with none of the rates")
      << "two of them were not, for certain";
  for (auto& point : run.points) point.status.is_void = true;
  EXPECT_EQ(fakes::text_of(verdict_title(run)), "No answer: the load generator was late");
  auto single = fakes::stream_run("a", 100, 80);
  single.verdict.emplace();
  single.status.is_void = true;
  EXPECT_EQ(fakes::text_of(verdict_title(single)), "No answer: the load generator was late");
}

TEST(StreamReport, a_comparison_states_its_unit) {
  const auto a = fakes::stream_run("a", 100, 50);
  const auto b = fakes::stream_run("b", 100, 40, 30, 2);
  std::string text;
  for (const auto& line : stream_comparison_lines(fakes::words(), analysis::compare_streams(a, b, 0.02)))
    text += line + "\n";
  EXPECT_NE(text.find("the ratio is that of p99 latency"), std::string::npos) << text;
  EXPECT_NE(text.find("intervals come from the seconds (29 and 29"), std::string::npos) << text;
  text.clear();
  for (const auto& line :
       stream_comparison_lines(fakes::words(), analysis::compare_streams(a, fakes::stream_run("b", 9, 9, 2), 0.02)))
    text += line + "\n";
  EXPECT_NE(text.find("29 and 1 whole seconds after the first: an interval needs 3 of each"), std::string::npos)
      << text;
}

TEST(StreamComparisonText, gives_no_ratio_where_its_interval_is_too_wide) {
  analysis::StreamComparison found;
  found.objective = "throughput";
  found.seconds_a = found.seconds_b = 5;
  found.figures = {{"throughput", {30, 20, 40}, {40, 20, 60}, {1.333, 0.6, 3.0}},
                   {"p99", {30, 29, 31}, {20, 19, 21}, {1.5, 1.4, 1.6}}};
  const auto lines = stream_comparison_lines(fakes::words(), found);
  EXPECT_NE(lines[1].find("too few measurements for a ratio"), std::string::npos) << lines[1];
  EXPECT_EQ(lines[1].find("1.333"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("1.500× as good, 95 % interval 1.400 to 1.600"), std::string::npos) << lines[2];
}

}  // namespace
}  // namespace ridgeline::report
