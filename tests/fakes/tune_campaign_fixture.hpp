// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "campaign/tune/tune_campaign.hpp"
#include "fakes/fake_executor.hpp"

namespace ridgeline::fakes {

/// A scratch folder, a store in it, and a request whose space is small enough to reason about.
class TuneCampaignFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "rl-campaign-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    auto opened = store::Store::open(folder_ / "results.db");
    ASSERT_TRUE(opened) << opened.error().message;
    store_.emplace(std::move(*opened));
    request_.workload.kind = "onnx";
    request_.workload.location = "model.onnx";
    request_.reference_folder = folder_ / "references";
    request_.search = "grid";
    request_.arguments = {"ridgeline", "tune", "model.onnx"};
    request_.space.only_listed = true;
    request_.space.values = {{"intra_op_num_threads", {1, 2, 4}}, {"enable_mem_pattern", {true, false}}};
    schema::Environment environment;
    environment.cpu_model = "Test CPU";
    environment.logical_cpus = 8;
    environment.physical_cores = 8;
    environment.usable_cpus = 8;
    environment.affinity = {0, 1, 2, 3, 4, 5, 6, 7};
    request_.environment = environment;
    executor_.cost_ns = [](const schema::Configuration& c) {
      return c.get_or("intra_op_num_threads", 0) == schema::Value(2) ? 1e6 : 2e6;
    };
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  base::Result<campaign::TuneResult> run() {
    campaign::CampaignObserver observer;
    return campaign::TuneCampaign(executor_, *store_, base::system_clock(), observer, [this] { return cancelled_; })
        .run(request_);
  }
  campaign::TuneResult must_run() {
    auto result = run();
    EXPECT_TRUE(result) << result.error().message;
    return result ? std::move(*result) : campaign::TuneResult{};
  }

  std::filesystem::path folder_;
  std::optional<store::Store> store_;
  FakeExecutor executor_;
  campaign::TuneRequest request_;
  bool cancelled_ = false;
};

}  // namespace ridgeline::fakes
