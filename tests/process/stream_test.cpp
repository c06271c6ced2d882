// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/wait.h>

#include <filesystem>
#include <map>
#include <set>

#include "base/json.hpp"
#include "base/scratch_folder.hpp"
#include "execute/frame_line.hpp"
#include "execute/stream_child.hpp"
#include "fakes/stream_models.hpp"
#include "fakes/words.hpp"
#include "worker_fixture.hpp"

namespace ridgeline::execute {
namespace {

/// Runs a pipeline of the test worker and keeps what it told.
class StreamProcess : public testing::Test {
 protected:
  StreamProcess() {
    spec_.model.workload.kind = "faulty";
    spec_.model.workload.location = "fine";
    spec_.sources = {{"synthetic:16x16x100", false}};
    spec_.settings.streams = 2;
    options_.command = {RL_TEST_WORKER, "stream"};
    options_.input_fd = -1;
    options_.on_frame = [this](const std::string& line) -> base::Result<void> {
      const auto json = base::parse_json(line, "line");
      EXPECT_TRUE(json) << line;
      const auto source = json->at("source").get<std::uint32_t>();
      EXPECT_EQ(json->at("frame"), next_[source]++) << "in order, none missing, none twice";
      json->contains("result") ? ++results_ : ++gaps_[json->at("dropped")];
      return {};
    };
  }

  StreamOutcome run() {
    auto out = run_stream(spec_, options_);
    EXPECT_TRUE(out) << out.error().message;
    return out ? std::move(*out) : StreamOutcome{};
  }
  [[nodiscard]] std::uint64_t lines() const {
    std::uint64_t sum = 0;
    for (const auto& [source, next] : next_) sum += next;
    return sum;
  }

  schema::StreamSpec spec_;
  StreamChildOptions options_;
  std::map<std::uint32_t, std::uint64_t> next_;
  std::map<std::string, std::uint64_t> gaps_;
  std::uint64_t results_ = 0;
};

TEST_F(StreamProcess, every_frame_of_every_source_has_a_line) {
  spec_.copies = 3;
  const auto out = run();
  EXPECT_FALSE(out.error) << out.error->message;
  EXPECT_EQ(next_, (std::map<std::uint32_t, std::uint64_t>{{0, 100}, {1, 100}, {2, 100}}));
  EXPECT_EQ(results_, 300U);
  EXPECT_EQ(out.status.delivered, 300);
  EXPECT_EQ(out.ready.sources.size(), 3U);
  EXPECT_EQ(out.ready.runtime, "faulty 1");
  ASSERT_EQ(out.status.checks.size(), 3U);
  EXPECT_TRUE(out.status.checks.front().passed) << fakes::text_of(out.status.checks.front().message);
}

TEST_F(StreamProcess, a_crash_is_told_with_the_frames_that_were_in_it) {
  for (const auto* how : {"crash:60", "exit:60"}) {
    SCOPED_TRACE(how);
    next_.clear();
    gaps_.clear();
    results_ = 0;
    spec_.model.workload.location = how;
    const auto out = run();
    ASSERT_TRUE(out.error);
    EXPECT_EQ(out.error->code, base::ErrorCode::crashed);
    EXPECT_NE(out.error->message.find(how[0] == 'c' ? "SIGABRT" : "exit code 3"), std::string::npos)
        << out.error->message;
    EXPECT_GT(out.lost, 0U);
    EXPECT_EQ(gaps_["crashed"], out.lost);
    EXPECT_EQ(lines(), results_ + out.lost);
    EXPECT_EQ(out.status.offered, static_cast<std::int64_t>(lines()));
    EXPECT_EQ(out.status.delivered, static_cast<std::int64_t>(results_));
    EXPECT_NE(out.error->message.find("were in the pipeline"), std::string::npos);
  }
}

TEST_F(StreamProcess, a_model_that_fails_once_is_a_gap_with_its_reason) {
  spec_.model.workload.location = "fail_once:60";
  std::string error;
  const auto count = options_.on_frame;
  options_.on_frame = [&](const std::string& line) {
    const auto json = base::parse_json(line, "line");
    if (json->contains("error")) error = json->at("error");
    return count(line);
  };
  const auto out = run();
  EXPECT_FALSE(out.error);
  EXPECT_EQ(lines(), 100U);
  EXPECT_GE(gaps_["failed"], 1U);
  EXPECT_EQ(error, "the model failed \"here\"");
  EXPECT_EQ(fakes::text_of(out.status.last_failure), "the model failed \"here\"");
}

TEST_F(StreamProcess, a_batch_without_room_is_lowered_with_a_note) {
  spec_.model.workload.location = "memory:4";
  spec_.settings.batch_size = 12;
  const auto out = run();
  EXPECT_FALSE(out.error) << out.error->message;
  EXPECT_EQ(results_, 100U);
  ASSERT_EQ(out.notes.size(), 2U);
  EXPECT_EQ(fakes::text_of(out.notes[0]),
            "batch_size lowered from 12 to 8: the device has no memory for more (no room for 8 frames)");
  EXPECT_EQ(fakes::text_of(out.notes[1]),
            "batch_size lowered from 8 to 4: the device has no memory for more (no room for 8 frames)");
  spec_.model.workload.location = "memory:0";
  spec_.settings.batch_size = 2;
  const auto none = run();
  ASSERT_TRUE(none.error);
  EXPECT_EQ(none.error->code, base::ErrorCode::out_of_memory);
  EXPECT_NE(none.error->message.find("no room for 1 frames"), std::string::npos) << none.error->message;
}

TEST_F(StreamProcess, a_batch_of_auto_is_what_a_gpu_has_room_for) {
  spec_.model.workload.location = "memory:8";
  spec_.model.provider = "cuda";
  spec_.settings.batch_size = 0;
  const auto out = run();
  EXPECT_FALSE(out.error) << out.error->message;
  EXPECT_EQ(results_, 100U);
  EXPECT_EQ(out.ready.batch_size, 8);
  EXPECT_EQ(out.notes.size(), 2U) << "from 32 to 16, and to 8";
  next_.clear();
  spec_.model.provider = "cpu";
  EXPECT_EQ(run().ready.batch_size, 1);
}

TEST_F(StreamProcess, a_batch_of_auto_is_the_models_own_where_that_is_fixed) {
  spec_.model.workload.location = "fixed:4";
  spec_.model.provider = "cuda";
  spec_.settings.batch_size = 0;
  const auto out = run();
  EXPECT_FALSE(out.error) << out.error->message;
  EXPECT_EQ(out.ready.batch_size, 4);
  spec_.settings.batch_size = 8;
  const auto refused = run();
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->code, base::ErrorCode::invalid_argument);
}

TEST_F(StreamProcess, a_model_that_goes_on_failing_ends_the_run) {
  spec_.model.workload.location = "fail:10";
  spec_.sources = {{"synthetic:16x16x10000", false}};
  const auto out = run();
  ASSERT_TRUE(out.error);
  EXPECT_NE(out.error->message.find("20 inferences failed one after another"), std::string::npos) << out.error->message;
  EXPECT_LT(lines(), 10000U);
  EXPECT_EQ(out.status.offered, static_cast<std::int64_t>(lines()));
}

TEST_F(StreamProcess, a_model_that_cannot_write_ends_the_run_at_once) {
  spec_.model.workload.location = "full:10";
  spec_.sources = {{"synthetic:16x16x10000", false}};
  const auto out = run();
  ASSERT_TRUE(out.error);
  EXPECT_EQ(out.error->message.find("cannot write x.npy: no space left on device"), 0U) << out.error->message;
  EXPECT_EQ(out.status.offered, static_cast<std::int64_t>(lines()));
}

TEST_F(StreamProcess, an_output_that_fails_ends_the_run_with_its_words) {
  spec_.sources = {{"synthetic:16x16x100000", false}};
  options_.on_frame = [&](const std::string&) -> base::Result<void> {
    if (++results_ > 50) return base::fail(base::ErrorCode::io, "out.jsonl: No space left on device");
    return {};
  };
  const auto out = run();
  ASSERT_TRUE(out.error);
  EXPECT_EQ(out.error->message, "out.jsonl: No space left on device");
}

TEST_F(StreamProcess, stopping_ends_it_and_every_frame_is_accounted_for) {
  spec_.model.workload.location = "slow:5";
  spec_.sources = {{"synthetic:16x16x100000", false}};
  options_.stopping = [&] { return results_ > 20; };
  const auto out = run();
  EXPECT_FALSE(out.error) << out.error->message;
  EXPECT_GT(gaps_["stopped"], 0U);
  EXPECT_EQ(lines(), results_ + gaps_["stopped"]);
  EXPECT_EQ(out.status.offered, static_cast<std::int64_t>(lines()));
}

TEST_F(StreamProcess, an_inference_that_hangs_is_killed_with_the_frames_told) {
  spec_.model.workload.location = "hang:30";
  spec_.settings.streams = 1;
  options_.stall_timeout_s = 0.5;
  const auto out = run();
  ASSERT_TRUE(out.error);
  EXPECT_EQ(out.error->code, base::ErrorCode::timeout);
  EXPECT_NE(out.error->message.find("no result came for 0.5 s: an inference hangs; "), std::string::npos)
      << out.error->message;
  EXPECT_EQ(results_, 30 - 4U) << "but those that warm it up";
  EXPECT_GT(gaps_["crashed"], 0U);
  EXPECT_EQ(lines(), results_ + gaps_["crashed"]);
}

TEST_F(StreamProcess, what_keeps_it_from_starting_is_the_error) {
  spec_.model.workload.location = "refuse";
  auto out = run();
  ASSERT_TRUE(out.error);
  EXPECT_EQ(out.error->message, "no such model");
  EXPECT_EQ(out.error->hint, "name another");
  EXPECT_EQ(out.error->code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(out.ready.workers, 0);

  spec_.sources = {{"/no/such/video.mp4", false}};
  out = run();
  ASSERT_TRUE(out.error);
  EXPECT_EQ(out.error->message, "/no/such/video.mp4: no such file");

  options_.command = {"/no/such/program"};
  EXPECT_FALSE(run_stream(spec_, options_));
}

TEST_F(StreamProcess, an_open_loop_is_audited_and_counts_what_it_drops) {
  spec_.model.workload.location = "slow:20";
  spec_.settings.streams = 1;
  spec_.settings.slo_ms = 100;
  spec_.copies = 2;
  spec_.load.emplace();
  spec_.load->rate_per_s = 100;
  spec_.load->duration_s = 1;
  const auto out = run();
  EXPECT_FALSE(out.error) << out.error->message;
  EXPECT_EQ(lines(), 200U) << "fixed before the run";
  EXPECT_EQ(out.status.offered, 200);
  EXPECT_LT(out.status.delivered, 120) << "50 a second";
  EXPECT_GT(out.status.delivered, 10);
  EXPECT_FALSE(out.status.audit.empty());
}

TEST_F(StreamProcess, a_load_that_is_cut_short_is_not_judged) {
  spec_.model.workload.location = "slow:5";
  spec_.load.emplace();
  spec_.load->rate_per_s = 20;
  spec_.load->duration_s = 60;
  options_.stopping = [&] { return results_ > 5; };
  const auto out = run();
  EXPECT_FALSE(out.error) << out.error->message;
  EXPECT_FALSE(out.status.is_void) << fakes::text_of(out.status.audit);
  EXPECT_TRUE(out.status.audit.empty());
}

TEST_F(StreamProcess, frames_are_pushed_in_through_a_pipe) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  spec_.sources = {{"-", false}};
  spec_.raw = "4x2:gray@10";
  options_.input_fd = ends[0];
  std::thread writer([fd = ends[1]] {
    const std::string frame(8, 'x');
    for (int i = 0; i < 25; ++i) EXPECT_EQ(::write(fd, frame.data(), frame.size()), 8);
    EXPECT_EQ(::write(fd, "cut", 3), 3);
    ::close(fd);
  });
  const auto out = run();
  writer.join();
  ::close(ends[0]);
  EXPECT_FALSE(out.error) << out.error->message;
  EXPECT_EQ(lines(), 25U);
  ASSERT_EQ(out.notes.size(), 1U) << "of the frame that was cut off";
}

/// Models that find the same in every picture, in ONNX Runtime.
class StreamModels : public StreamProcess {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(RL_TEST_ORT_ROOT "/lib")) GTEST_SKIP() << "no ONNX Runtime at " RL_TEST_ORT_ROOT;
    options_.environment = {{"ONNXRUNTIME_ROOT", RL_TEST_ORT_ROOT}};
    spec_.sources = {{"synthetic:16x16x7", false}};
    spec_.model.workload.kind = "onnx";
    spec_.model.provider = "cpu";
    spec_.model.configuration.set("intra_op_num_threads", 1);
    spec_.settings.batch_size = 3;
  }
  /// What the decoder that was recognized makes of it, the same for all frames, which are twice the input's size.
  std::pair<std::string, std::string> decode(const fakes::TinyOnnx& model) {
    spec_.model.workload.location = model.write(folder_.path() / "model.onnx");
    std::set<std::string> results;
    options_.on_frame = [&](const std::string& line) -> base::Result<void> {
      results.insert(base::dump_json(base::parse_json(line, "line").value_or(base::Json())["result"]));
      return {};
    };
    const auto out = run();
    EXPECT_FALSE(out.error) << out.error->message;
    EXPECT_EQ(out.lines, 7U);
    EXPECT_EQ(results.size(), 1U);
    return {out.ready.decoder, results.empty() ? "" : *results.begin()};
  }

  base::ScratchFolder folder_{"models"};
};

TEST_F(StreamModels, are_decoded_from_end_to_end) {
  using Found = std::pair<std::string, std::string>;
  std::vector<float> columns(6 * 8, 0);  // centre, size and two classes of eight boxes
  for (const auto& [row, value] : std::vector<std::pair<std::size_t, float>>{{0, 4}, {1, 3}, {2, 4}, {3, 2}, {5, 0.9F}})
    columns[row * 8 + 6] = value;
  EXPECT_EQ(decode(fakes::ConstantModel().output("output0", {6, 8}, columns).model()),
            Found("yolo", R"({"boxes":[{"box":[4.0,4.0,12.0,8.0],"class":1,"score":0.9}]})"));
  EXPECT_EQ(decode(fakes::ConstantModel()
                       .output("logits", {2, 3}, {-9, -9, -9, -9, 0, -9})
                       .output("pred_boxes", {2, 4}, {0, 0, 0, 0, 0.5F, 0.5F, 0.5F, 0.25F})
                       .model()),
            Found("detr", R"({"boxes":[{"box":[4.0,6.0,12.0,10.0],"class":1,"score":0.5}]})"));
  EXPECT_EQ(decode(fakes::sizes_model()),
            Found("detr", R"({"boxes":[{"box":[4.0,4.0,12.0,12.0],"class":2,"score":0.75}]})"));
  std::vector<float> across(16, 0);
  std::vector<float> down(16, 0);
  across[6] = 0.5F;
  down[10] = 0.75F;
  EXPECT_EQ(decode(fakes::ConstantModel().output("simcc_x", {1, 16}, across).output("simcc_y", {1, 16}, down).model()),
            Found("simcc", R"({"keypoints":[{"point":[6.0,10.0],"score":0.5}]})"));
  std::vector<float> heat(16, 0);
  heat[4 * 2 + 1] = 1;
  EXPECT_EQ(decode(fakes::ConstantModel().output("heatmap", {1, 4, 4}, heat).model()),
            Found("heatmap", R"({"keypoints":[{"point":[4.0,8.0],"score":1}]})"));
  std::vector<float> map(32 * 32, 0);
  for (std::size_t y = 8; y <= 16; ++y) std::fill_n(map.begin() + static_cast<std::ptrdiff_t>(32 * y + 4), 21, 0.875F);
  const auto [decoder, text] = decode(fakes::ConstantModel(32).output("sigmoid_0.tmp_0", {1, 32, 32}, map).model());
  EXPECT_EQ(decoder, "ppocr");
  EXPECT_NE(text.find(R"("score":0.875)"), std::string::npos) << text;
}

TEST(FrameLine, is_what_a_reader_expects) {
  stream::FrameResult frame;
  frame.frame.source = 2;
  frame.frame.sequence = 7;
  frame.frame.pts_ns = 280'000'000;
  frame.frame.intended_ns = 1'000'000;
  frame.left_ns = 31'500'000;
  const std::string result = R"({"boxes":[{"dropped":"x"}]})";
  const auto line = frame_line({frame, result, nullptr, ""});
  EXPECT_EQ(line,
            R"({"source":2,"frame":7,"pts_ms":280.000,"latency_ms":30.500,"result":{"boxes":[{"dropped":"x"}]}})");
  EXPECT_EQ(source_of_line(line), 2U);
  EXPECT_EQ(drop_reason_of_line(line), "");
  EXPECT_EQ(latency_of_line(line), 30.5);
  frame.dropped = stream::DropReason::failed;
  const auto gap = frame_line({frame, "", nullptr, "no \"result\": here"});
  EXPECT_EQ(drop_reason_of_line(gap), "failed");
  EXPECT_FALSE(latency_of_line(gap)) << "a frame that was not delivered has none";
  EXPECT_FALSE(latency_of_line(lost_frame_line(3, 9, stream::DropReason::crashed)));
  EXPECT_EQ(base::parse_json(gap, "")->at("error"), "no \"result\": here");
  EXPECT_EQ(lost_frame_line(3, 9, stream::DropReason::crashed), R"({"source":3,"frame":9,"dropped":"crashed"})");
}

TEST(FrameLine, names_the_file_and_what_is_wrong_with_it) {
  stream::FrameResult frame;
  frame.frame.sequence = 1;
  const std::string name = R"(a"dropped":"x","result":.png)";
  const auto line = frame_line({frame, "{}", nullptr, ""}, {name, ""});
  EXPECT_EQ(base::parse_json(line, "")->at("file"), name);
  EXPECT_EQ(drop_reason_of_line(line), "");
  EXPECT_TRUE(latency_of_line(line));
  frame.dropped = stream::DropReason::damaged;
  EXPECT_EQ(frame_line({frame, "", nullptr, ""}, {"e.jpg", "no picture"}),
            R"({"source":0,"frame":1,"file":"e.jpg","pts_ms":0.000,"latency_ms":0.000,"dropped":"damaged",)"
            R"("error":"no picture"})");
  EXPECT_EQ(drop_reason_of_line(frame_line({frame, "", nullptr, ""}, {name, "no picture"})), "damaged");
}

}  // namespace
}  // namespace ridgeline::execute
