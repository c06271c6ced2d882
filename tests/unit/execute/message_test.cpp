// SPDX-License-Identifier: Apache-2.0
#include "execute/message.hpp"

#include <set>
#include <string_view>

#include "base/random.hpp"
#include "fakes/words.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;

schema::TrialOutcome sample_outcome() {
  schema::TrialOutcome outcome;
  outcome.measurement.emplace();
  outcome.measurement->latency_ns = {1, 2.5, 3};
  outcome.measurement->peak_rss_bytes = 77;
  return outcome;
}

template <typename Outcome>
WireFrame outcome_frame(Outcome outcome) {
  return make_frame(answer_of(std::move(outcome)));
}
template <typename Outcome>
base::Result<Outcome> read_outcome(WireFrame frame) {
  return read_frame(std::move(frame)).and_then(&read_answer<Outcome>);
}

schema::PairedOutcome sample_pair() {
  schema::PairedOutcome outcome;
  outcome.measurement.emplace();
  outcome.measurement->blocks = {{'A', {1, 2}, 3}, {'B', {}, 0}, {'B', {4}, 4}};
  return outcome;
}

TEST(Message, a_trial_outcome_keeps_its_samples_outside_the_json) {
  const auto frame = outcome_frame(sample_outcome());
  EXPECT_EQ(frame.samples.size(), 3U);
  EXPECT_EQ(frame.json.find("2.5"), std::string::npos);
  const auto back = read_outcome<schema::TrialOutcome>(frame);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->measurement->latency_ns, sample_outcome().measurement->latency_ns);
  EXPECT_EQ(back->measurement->peak_rss_bytes, 77);
}

TEST(Message, a_failed_trial_has_no_samples) {
  schema::TrialOutcome outcome;
  outcome.status = schema::TrialStatus::failed;
  outcome.failure.emplace();
  outcome.failure->message = fakes::legacy("no");
  auto frame = outcome_frame(outcome);
  const auto back = read_outcome<schema::TrialOutcome>(frame);
  ASSERT_TRUE(back);
  EXPECT_EQ(fakes::text_of(back->failure->message), "no");
  frame.samples = {1};
  EXPECT_FALSE(read_outcome<schema::TrialOutcome>(frame));
}

TEST(Message, a_paired_outcome_gets_its_blocks_back) {
  const auto back = read_outcome<schema::PairedOutcome>(outcome_frame(sample_pair()));
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->measurement->blocks.size(), 3U);
  EXPECT_EQ(back->measurement->blocks[0].latency_ns, (std::vector<double>{1, 2}));
  EXPECT_TRUE(back->measurement->blocks[1].latency_ns.empty());
  EXPECT_EQ(back->measurement->blocks[2].arm, 'B');
}

TEST(Message, block_counts_that_do_not_fit_are_refused) {
  auto frame = outcome_frame(sample_pair());
  frame.samples.pop_back();
  EXPECT_FALSE(read_outcome<schema::PairedOutcome>(frame));
  frame.samples.resize(9);
  EXPECT_FALSE(read_outcome<schema::PairedOutcome>(frame));
}

TEST(Message, every_error_code_survives_the_wire) {
  std::set<std::string_view> names;
  for (int number = 0; number <= static_cast<int>(ErrorCode::internal); ++number) {
    const auto code = static_cast<ErrorCode>(number);
    names.insert(base::to_string(code));
    const auto frame = make_error_frame({code, "the thing: 4 is wrong", "give 3"});
    const auto back = read_error_frame(frame);
    EXPECT_EQ(back.code, code);
    EXPECT_EQ(back.message, "the thing: 4 is wrong");
    EXPECT_EQ(back.hint, "give 3");
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ErrorCode::internal) + 1);
}

TEST(Message, an_error_without_a_hint_is_sent_without_one) {
  const auto frame = make_error_frame({ErrorCode::io, "the disk is gone"});
  EXPECT_EQ(frame.json.find("hint"), std::string::npos) << frame.json;
  EXPECT_EQ(read_error_frame(frame).hint, "");
}

TEST(Message, an_errors_number_survives_the_wire) {
  base::Error error{ErrorCode::out_of_memory, "allocating 64 bytes", "", 64};
  EXPECT_EQ(read_error_frame(make_error_frame(error)).number, 64);
  error.number = 0;
  EXPECT_EQ(make_error_frame(error).json.find("number"), std::string::npos);
}

TEST(Message, an_error_frame_without_sense_is_corrupt) {
  for (const auto* json : {"", "[]", "{}", "{\"code\":1,\"message\":2}", "null"})
    EXPECT_EQ(read_error_frame({FrameType::error, json, {}}).code, ErrorCode::corrupt) << json;
}

TEST(Message, mutated_json_is_read_or_refused_and_never_throws) {
  const auto trial = outcome_frame(sample_outcome());
  const auto pair = outcome_frame(sample_pair());
  base::Random random(7);
  int refused = 0;
  constexpr int kFrames = 20'000;
  for (int i = 0; i < kFrames; ++i) {
    auto frame = i % 2 == 0 ? trial : pair;
    for (std::uint64_t times = 1 + random.below(3); times > 0; --times) {
      const auto at = static_cast<std::size_t>(random.below(frame.json.size()));
      if (random.below(3) == 0)
        frame.json.erase(at, 1 + static_cast<std::size_t>(random.below(5)));
      else
        frame.json[at] = static_cast<char>(random.next());
      if (frame.json.empty()) frame.json = "x";
    }
    const bool ok = i % 2 == 0 ? read_outcome<schema::TrialOutcome>(frame).has_value()
                               : read_outcome<schema::PairedOutcome>(frame).has_value();
    refused += ok ? 0 : 1;
  }
  EXPECT_GT(refused, kFrames / 4);
}

TEST(Message, requests_round_trip) {
  TrialRequest request;
  request.spec.workload.kind = "synthetic";
  request.spec.configuration.set("intra_op_num_threads", 3);
  request.stop_above_ns = 5e6;
  request.throughput = true;
  request.reference = "/tmp/r";
  const auto frame = make_job_frame(job_kind::kTrial, request);
  EXPECT_EQ(frame.type, FrameType::job);
  const auto job = base::parse_json(frame.json, "job").value();
  EXPECT_EQ(job["kind"], "trial");
  const auto back = base::json_as<TrialRequest>(job["request"], "request");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->spec.key(), request.spec.key());
  EXPECT_EQ(back->stop_above_ns, request.stop_above_ns);
  EXPECT_TRUE(back->throughput);
  EXPECT_EQ(back->reference, "/tmp/r");
}

}  // namespace
}  // namespace ridgeline::execute
