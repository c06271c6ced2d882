// SPDX-License-Identifier: Apache-2.0
#include "monitor/stream_screen.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "fakes/stream_progress.hpp"

namespace ridgeline::monitor {
namespace {

class StreamScreenTest : public ::testing::Test {
 protected:
  StreamScreenTest() {
    view_.subject = "2 sources: gate.mp4";
    view_.model = "det.onnx";
    view_.slo_ms = 60;
    view_.ready.runtime = "onnxruntime 1.29.0, cuda";
    view_.ready.decoder = "yolo";
    view_.ready.workers = 2;
    view_.ready.sources = {{"gate.mp4", 1280, 720, 25, 250, false, ""}, {"camera:0", 640, 480, 0, -1, true, ""}};
    view_.notes = {"camera:0: lost, and there again after 0.4 s"};
    for (double at = 0; at < 12.05; at += 0.2) {
      view_.progress = fakes::busy_stream(at);
      view_.history.add(view_.progress);
    }
  }
  [[nodiscard]] std::string draw(int rows = 24, int columns = 80, bool unicode = true) const {
    return draw_stream_screen(view_, {rows, columns, unicode}).text();
  }
  StreamView view_;
};

TEST_F(StreamScreenTest, shows_everything_in_80x24) {
  EXPECT_EQ(draw(), R"( Ridgeline stream · 2 sources: gate.mp4                        SLO 60 ms · 12 s
 det.onnx · onnxruntime 1.29.0, cuda · yolo · 2 in flight
 gate.mp4  1280x720, 25 FPS, 250 frames  and 1 more
 100.0 FPS          top 101 · last 12 s   p99 57.5 ms            top: SLO 60 ms
          ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿         ⢰⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶⣶
          ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿         ⢸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
          ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿         ⢸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
          ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿         ⢸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
 Latency, ms        p50     p95     p99   Frames in an inference       mean 3.3
 last second       21.0    42.0    57.5       1   ██▎····················  10 %
 since start       20.5    41.2    55.8       2   ████▋··················  20 %
 queue       █████···············  5/20       3   ·······················   0 %
 busy        █████████████████▍··  87 %       4   ████████████████▏······  70 %
 Workers' time                            Frames                    since start
 inference           ███████·····  58 %   came in                          1199
 copies              ▌···········   4 %   delivered                        1154
 host: preparing     █···········   8 %   in the pipeline                     9
 host: decoding      ▌···········   4 %   dropped                            36
 idle: source        ██▌·········  21 %     deadline                         30
 idle: fuller batch  ············   0 %     queue_full                        6
 idle: order, output ▌···········   4 %
 GPU  busy 88 %   memory 11.6/79.2 GiB   61 °C   402 W
 camera:0: lost, and there again after 0.4 s
 q Stop)");
}

TEST_F(StreamScreenTest, does_with_ascii) {
  const auto text = draw(24, 80, false);
  for (const char letter : text) ASSERT_GE(letter, 0) << text;
  EXPECT_NE(text.find("idle: source"), std::string::npos);
}

TEST_F(StreamScreenTest, fits_every_size) {
  for (const int rows : {18, 20, 30, 60})
    for (const int columns : {60, 100, 200}) {
      const auto text = draw(rows, columns);
      for (const auto* part : {"p99", "came in", "deadline", "last second", "q Stop"})
        EXPECT_NE(text.find(part), std::string::npos) << rows << "x" << columns << "\n" << text;
    }
  EXPECT_EQ(draw(10, 80), "too small: 60x18 at least");
}

TEST_F(StreamScreenTest, a_second_model_has_a_row_of_its_own) {
  view_.progress.status.worker_s["crops"] = 6;
  for (const int rows : {18, 24, 40}) {
    const auto text = draw(rows, 80);
    for (const auto* part : {"second model", "20 %", "idle: order, output", "GPU  busy", "q Stop"})
      EXPECT_NE(text.find(part), std::string::npos) << rows << "\n" << text;
  }
}

TEST_F(StreamScreenTest, says_what_exceeds_the_limit_and_that_it_stops) {
  view_.slo_ms = 50;
  view_.is_stopping = true;
  view_.load = "50 FPS per source";
  const auto canvas = draw_stream_screen(view_, {24, 80, true});
  EXPECT_NE(canvas.text().find("STOPPING · 50 FPS per source · SLO 50 ms"), std::string::npos) << canvas.text();
  EXPECT_NE(canvas.text().find("top 57.5 · SLO 50 ms"), std::string::npos) << canvas.text();
}

TEST_F(StreamScreenTest, a_machine_without_a_gpu_has_no_line_for_it) {
  view_.progress.recent.gpu.reset();
  EXPECT_EQ(draw().find("GPU  busy"), std::string::npos);
}

TEST_F(StreamScreenTest, joins_sizes_of_batches_that_have_no_row) {
  view_.progress.status.batches.assign(65, 1);
  EXPECT_NE(draw().find("1-16"), std::string::npos) << draw();
}

TEST(StreamHistoryTest, rates_are_over_a_second) {
  StreamHistory history;
  EXPECT_TRUE(std::isnan(history.frames_per_s(0)));
  schema::StreamProgress progress;
  for (int i = 0; i < 20; ++i) {
    progress.status.elapsed_s = 0.2 * i;
    progress.status.delivered = i < 10 ? 2 * i : 20 + 4 * (i - 10);
    history.add(progress);
  }
  EXPECT_FLOAT_EQ(history.frames_per_s(0), 20);
  EXPECT_FLOAT_EQ(history.frames_per_s(12), 10);
  EXPECT_TRUE(std::isnan(history.frames_per_s(20)));
  EXPECT_NEAR(history.seconds_back(5), 1, 1e-9);
}

}  // namespace
}  // namespace ridgeline::monitor
