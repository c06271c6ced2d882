// SPDX-License-Identifier: Apache-2.0
// Where no setting changes anything, sessions differ all the same: nothing may be recommended for that.
#include <chrono>
#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "campaign/tune/tune_campaign.hpp"
#include "fakes/fake_gpu_pool.hpp"
#include "fakes/gpu_pool_request.hpp"
#include "fakes/temporary_folder.hpp"
#include "fakes/uneven_sessions.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;

constexpr int kRuns = 30;
constexpr int kMostFalse = 1;
constexpr double kSessionSpread = 0.015;  // log standard deviation, as on H200s

class NothingFasterTest : public ::testing::Test {
 protected:
  TuneRequest onnx() {
    auto request = fakes::gpu_pool_request(folder_.path(), 1,
                                           {{"cudnn_conv_algo_search", {"HEURISTIC", "DEFAULT"}},
                                            {"enable_cuda_graph", {true, false}},
                                            {"io_binding", {"device", "stream"}},
                                            {"prefer_nhwc", {true, false}}});
    request.search = "adaptive";
    request.leave_one_out = true;
    return request;
  }
  TuneRequest python() {
    auto request = onnx();
    fakes::ask_pytorch(request);
    return request;
  }

  /// How many of kRuns recommend something.
  int recommended(TuneRequest request) {
    int count = 0;
    for (request.seed = 1; request.seed <= kRuns; ++request.seed) {
      fakes::FakeGpuPool pool(clock_, 1);
      base::Random luck(request.seed);
      pool.luck = base::Random(request.seed + 1000);
      pool.session_spread = kSessionSpread;
      pool.simple.cost_ns = [](const Configuration&) { return 2e6; };
      pool.simple.pair_measurement = [&](const schema::PairedSpec& spec) {
        return fakes::with_turns(luck.next(), std::max(1, spec.plan.rounds), 0, kSessionSpread * std::sqrt(2.0));
      };
      if (request.workload.kind == workload::kPythonKind) fakes::as_torch(pool.simple);
      const auto run = fakes::tuned(pool, clock_, folder_ / fmt::format("{}.db", ++runs_), request).run;
      EXPECT_GT(run.trials.size(), 5U);
      if (run.verdict && run.verdict->decision == schema::Decision::change) ++count;
    }
    return count;
  }

 private:
  fakes::TemporaryFolder folder_;
  fakes::FakeClock clock_;
  int runs_ = 0;
};

TEST_F(NothingFasterTest, without_a_limit) { EXPECT_LE(recommended(onnx()), kMostFalse); }

TEST_F(NothingFasterTest, of_a_pytorch_model_without_a_limit) { EXPECT_LE(recommended(python()), kMostFalse); }

TEST_F(NothingFasterTest, of_a_pytorch_model_in_a_short_run) {
  auto request = python();
  for (const auto limit : {60, 150}) {
    request.max_time = std::chrono::seconds(limit);
    EXPECT_LE(recommended(request), kMostFalse) << limit;
  }
}

}  // namespace
}  // namespace ridgeline::campaign
