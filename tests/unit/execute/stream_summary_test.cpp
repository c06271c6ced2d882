// SPDX-License-Identifier: Apache-2.0
#include "execute/stream_summary.hpp"

#include <gtest/gtest.h>

#include "schema/stream_moment.hpp"

namespace ridgeline::execute {
namespace {

TEST(StreamSummary, busy_is_the_share_of_all_workers_time) {
  stream::PipelineStatus status;
  status.workers.workers = 2;
  status.meter.enter(0);
  status.meter.launch(1, 0);
  status.meter.complete(10'000'000);
  stream::FrameResult result;
  result.batch = 1;
  result.done_ns = result.left_ns = 10'000'000;
  status.meter.leave(result);
  const auto summary = summarize(status, 1);
  EXPECT_DOUBLE_EQ(summary.busy_workers, 1);
  EXPECT_DOUBLE_EQ(summary.busy, 0.5) << "one of two had work";
  EXPECT_EQ(summary.delivered, 1);
  EXPECT_NEAR(summary.latency.p50, 10, 0.1);
}

TEST(StreamSummary, tells_why_a_gpu_is_idle) {
  stream::PipelineStatus status;
  status.workers.busy.preprocess_ns = 1'000'000'000;
  status.workers.busy.inference_ns = 9'000'000'000;
  status.workers.busy.wait_ns = 5'000'000'000;
  status.workers.busy.postprocess_ns = 1'000'000'000;
  status.workers.busy.crops_ns = 1'000'000'000;
  status.workers.no_frame_ns = 5'000'000'000;
  const auto of_gpu = [](std::int64_t busy_ns) {
    return gpu::DeviceTimes{busy_ns, 200'000'000, 150'000'000, 1'000, 2};
  };
  const auto summary = summarize(status, 1, 0, of_gpu(750'000'000));
  EXPECT_EQ(summary.uploads_hidden, 0.75);
  EXPECT_EQ(summary.slow_inferences, 0.002);
  ASSERT_TRUE(summary.gpu_busy);
  EXPECT_DOUBLE_EQ(*summary.gpu_busy, 0.75);
  EXPECT_DOUBLE_EQ(summary.worker_s.at("wait"), 5);
  ASSERT_EQ(summary.gpu_idle.size(), 3U) << "neither inference nor waiting for it is a cause";
  EXPECT_DOUBLE_EQ(summary.gpu_idle.at("source"), 0.25 * 5 / 8);
  EXPECT_DOUBLE_EQ(summary.gpu_idle.at("decode"), 0.25 * 2 / 8);
  EXPECT_DOUBLE_EQ(summary.gpu_idle.at("host"), 0.25 * 1 / 8);
  EXPECT_EQ(schema::gpu_busy_text(summary), "75 % busy, uploading 20 %; idle: source 16 %, decode 6 %, host 3 %");
  auto compared = summary;
  compared.share_of_peak = 0.845;
  compared.uploading = 0.001;
  EXPECT_EQ(schema::gpu_busy_text(compared), "75 % busy, 84 % of its peak; idle: source 16 %, decode 6 %, host 3 %");
  EXPECT_TRUE(schema::is_source_bound(summary));
  status.workers.no_frame_ns = 1'000'000'000;
  EXPECT_FALSE(schema::is_source_bound(summarize(status, 1, 0, of_gpu(750'000'000)))) << "other causes weigh more";
  status.workers.no_frame_ns = 5'000'000'000;
  EXPECT_FALSE(schema::is_source_bound(summarize(status, 1, 0, of_gpu(950'000'000)))) << "the GPU is busy";
  const auto plain = summarize(status, 1);
  EXPECT_FALSE(plain.gpu_busy);
  EXPECT_FALSE(plain.uploads_hidden);
  EXPECT_TRUE(plain.gpu_idle.empty());
  EXPECT_EQ(schema::gpu_busy_text(plain), "");
}

TEST(StreamSummary, percentiles_need_their_frames) {
  const auto summary_of = [](int frames) {
    stream::PipelineStatus status;
    for (int i = 0; i < frames; ++i) {
      status.meter.enter(0);
      stream::FrameResult result;
      result.done_ns = result.left_ns = 10'000'000;
      status.meter.leave(result);
    }
    return summarize(status, 1, 5'000'000);
  };
  const auto few = summary_of(10);
  EXPECT_NEAR(few.latency.p50, 10, 0.1);
  EXPECT_FALSE(few.latency.p95);
  EXPECT_FALSE(few.latency.p99);
  EXPECT_FALSE(few.latency.p999);
  EXPECT_NEAR(few.latency.max, 10, 1e-9);
  EXPECT_EQ(few.over_slo, 10);
  EXPECT_TRUE(base::Json(few)["latency"]["p99"].is_null());
  EXPECT_FALSE(summary_of(199).latency.p95);
  EXPECT_TRUE(summary_of(200).latency.p95);
  EXPECT_FALSE(summary_of(999).latency.p99);
  EXPECT_NEAR(*summary_of(1000).latency.p99, 10, 0.1);
  EXPECT_FALSE(summary_of(1000).latency.p999);
  EXPECT_TRUE(summary_of(10'000).latency.p999);
  EXPECT_EQ(base::Json(few).get<schema::StreamStatus>().latency.p99, std::nullopt);
  auto old = base::Json(summary_of(1000));
  EXPECT_TRUE(old.get<schema::StreamStatus>().latency.p99);
  old["latency"]["count"] = 10;
  EXPECT_FALSE(old.get<schema::StreamStatus>().latency.p99) << "as releases before had it";
}

TEST(StreamEnergy, counts_moments_whose_power_is_known) {
  EXPECT_FALSE(schema::energy_of({}));
  std::vector<schema::StreamMoment> moments(3);
  moments[0].at_s = 1;
  moments[0].delivered_per_s = 1'000;  // its power is not known
  moments[1].at_s = 3;
  moments[1].delivered_per_s = 300;
  moments[1].gpu.emplace().power_w = 100;
  moments[2].at_s = 4;
  moments[2].delivered_per_s = 900;
  moments[2].gpu.emplace().power_w = 400;
  const auto energy = schema::energy_of(moments);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->frames_per_joule, (600. + 900) / (200 + 400));
  EXPECT_DOUBLE_EQ(energy->mean_power_w, 200);
}

}  // namespace
}  // namespace ridgeline::execute
