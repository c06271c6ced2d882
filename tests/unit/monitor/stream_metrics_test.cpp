// SPDX-License-Identifier: Apache-2.0
#include "monitor/stream_metrics.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes/stream_progress.hpp"

namespace ridgeline::monitor {
namespace {

StreamView watched_stream() {
  StreamView view;
  view.subject = "gate.mp4";
  view.model = "a \"b\".onnx";
  view.slo_ms = 60;
  view.ready.workers = 2;
  view.progress = fakes::busy_stream();
  return view;
}

TEST(StreamMetrics, uses_base_units) {
  const auto text = stream_metrics_text(watched_stream());
  for (const auto* line :
       {"# TYPE ridgeline_stream_frames_offered_total counter\nridgeline_stream_frames_offered_total 1200\n",
        "ridgeline_stream_frames_dropped_total{reason=\"deadline\"} 30\n", "ridgeline_stream_slo_seconds 0.06\n",
        "ridgeline_stream_latency_seconds{quantile=\"0.99\"} 0.0575\n", "ridgeline_stream_latency_seconds_count 1155\n",
        "ridgeline_stream_batch_frames_bucket{le=\"2\"} 30\n",
        "ridgeline_stream_batch_frames_bucket{le=\"+Inf\"} 100\n",
        "ridgeline_stream_worker_seconds_total{part=\"no_frame\"} 5\n", "ridgeline_stream_queue_capacity_frames 20\n",
        "ridgeline_stream_gpu_power_watts 402\n", "ridgeline_stream_gpu_frames_per_joule ",
        "model=\"a \\\"b\\\".onnx\""})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(StreamMetrics, have_why_the_gpu_is_idle) {
  auto view = watched_stream();
  view.progress.status.gpu_busy = 0.8;
  view.progress.status.gpu_idle = {{"source", 0.15}, {"host", 0.05}};
  view.progress.status.uploads_hidden = 0.92;
  view.progress.status.slow_inferences = 0.001;
  view.progress.recent.gpu->sm_percent = 71;
  const auto text = stream_metrics_text(view);
  for (const auto* line :
       {"ridgeline_stream_gpu_busy_ratio 0.8\n", "ridgeline_stream_gpu_idle_ratio{cause=\"source\"} 0.15\n",
        "ridgeline_stream_gpu_idle_ratio{cause=\"host\"} 0.05\n", "ridgeline_stream_gpu_sm_ratio 0.71\n",
        "ridgeline_stream_gpu_uploads_hidden_ratio 0.92\n", "ridgeline_stream_gpu_slow_inferences_ratio 0.001\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(StreamMetrics, leaves_out_what_is_not_known) {
  auto view = watched_stream();
  view.slo_ms = 0;
  view.progress.recent.gpu.reset();
  view.progress.recent.p99.reset();
  const auto text = stream_metrics_text(view);
  for (const auto* part : {"slo", "gpu", "0.99"}) EXPECT_EQ(text.find(part), std::string::npos) << text;
}

TEST(StreamMetrics, satisfies_promtool) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "promtool (Debian package prometheus) is not here";
  const auto file = std::filesystem::temp_directory_path() / fmt::format("rl_stream_metrics_{}", ::getpid());
  std::ofstream(file) << stream_metrics_text(watched_stream());
  EXPECT_EQ(std::system(fmt::format("promtool check metrics < {}", file.string()).c_str()), 0);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace ridgeline::monitor
