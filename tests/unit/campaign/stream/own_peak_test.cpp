// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/own_peak.hpp"

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"

namespace ridgeline::campaign {
namespace {

class OwnPeakTest : public testing::Test {
 protected:
  /// A finished run; offline is what measures a peak.
  schema::StreamRun run(const std::string& id, const std::string& process, double frames_per_s) const {
    schema::StreamRun run;
    run.id = id;
    run.started_utc = run.finished_utc = id;
    auto& spec = run.request.spec;
    spec.model.workload.content_sha256 = "abc";
    spec.model.provider = "cuda";
    spec.model.device = "GPU-1";
    spec.settings.batch_size = 8;
    spec.settings.streams = 2;
    spec.load.emplace();
    spec.load->process = process;
    run.ready.sources.emplace_back();
    run.ready.sources.front().width = 1920;
    run.ready.sources.front().height = 1080;
    run.ready.batch_size = 8;
    run.ready.workers = 2;
    run.status.delivered_per_s = frames_per_s;
    return run;
  }
  void save(const schema::StreamRun& run) { ASSERT_TRUE(store_.save_run(schema::to_run(run))); }

  base::ScratchFolder folder_{"own_peak"};
  store::Store store_{store::Store::open(folder_.path() / "r.db").value()};
};

TEST_F(OwnPeakTest, is_the_newest_of_the_same_pipeline) {
  auto now = run("20261129-120000-0000", "fixed", 0);
  now.request.spec.settings.slo_ms = 60;
  now.request.spec.settings.drop = "newest";
  EXPECT_FALSE(own_peak(peak_runs(store_), now, now.ready));
  save(run("20261129-100000-0001", "offline", 900));
  save(run("20261129-110000-0002", "offline", 1000));
  save(run("20261129-113000-0003", "fixed", 2000));
  const auto peak = own_peak(peak_runs(store_), now, now.ready);
  ASSERT_TRUE(peak);
  EXPECT_EQ(peak->run_id, "20261129-110000-0002");
  EXPECT_EQ(peak->frames_per_s, 1000);
}

TEST_F(OwnPeakTest, is_of_no_other_pipeline) {
  save(run("20261129-100000-0001", "offline", 900));
  const auto base = run("20261129-120000-0000", "fixed", 0);
  const auto differs = [&](const auto& change) {
    auto now = base;
    change(now);
    return !own_peak(peak_runs(store_), now, now.ready);
  };
  EXPECT_FALSE(differs([](auto&) {}));
  EXPECT_TRUE(differs([](auto& now) { now.request.spec.model.workload.content_sha256 = "other"; }));
  EXPECT_TRUE(differs([](auto& now) { now.request.spec.model.device = "GPU-2"; }));
  EXPECT_TRUE(differs([](auto& now) { now.ready.batch_size = 4; }));
  EXPECT_TRUE(differs([](auto& now) { now.ready.workers = 4; }));
  EXPECT_TRUE(differs([](auto& now) { now.ready.sources.front().width = 1280; }));
  EXPECT_TRUE(differs([](auto& now) { now.request.spec.settings.inference_scale = 0.5; }));
  EXPECT_TRUE(differs([](auto& now) { now.request.spec.model.configuration.set("use_tf32", false); }));
}

TEST_F(OwnPeakTest, is_of_a_run_that_came_to_its_end) {
  auto broken = run("20261129-100000-0001", "offline", 900);
  broken.interrupted = true;
  save(broken);
  const auto now = run("20261129-120000-0000", "fixed", 0);
  EXPECT_FALSE(own_peak(peak_runs(store_), now, now.ready));
}

}  // namespace
}  // namespace ridgeline::campaign
