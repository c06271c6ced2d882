// SPDX-License-Identifier: Apache-2.0
#include "watch/retune_responder.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_executor.hpp"
#include "fakes/fake_service.hpp"
#include "fakes/temporary_folder.hpp"
#include "fakes/words.hpp"
#include "watch/utc_seconds.hpp"

namespace ridgeline::watch {
namespace {

using fakes::text_of;
using schema::Configuration;
using schema::Value;

/// A service on which two threads are the fastest, unless told otherwise.
class RetuneResponderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = store::Store::open(folder_ / "results.db");
    ASSERT_TRUE(opened) << opened.error().message;
    store_.emplace(std::move(*opened));
    write("onnxruntime:\n  intra_op_num_threads: 4   # by hand\n");
    baseline_.run.workload.kind = "onnx";
    baseline_.run.workload.location = "model.onnx";
    baseline_.run.provider = "cpu";
    baseline_.run.request.accuracy_tolerance = 1e-3;
    options_.config = folder_ / "config.yaml";
    options_.patch.section = "onnxruntime";
    options_.arguments = {"ridgeline", "watch"};
    options_.reference_folder = folder_ / "references";
    options_.environment = [] {
      schema::Environment environment;
      environment.cpu_model = "Test CPU";
      environment.logical_cpus = environment.physical_cores = 8;
      environment.usable_cpus = 8;
      environment.affinity = {0, 1, 2, 3, 4, 5, 6, 7};
      return environment;
    };
    options_.make_executor = [this] {
      auto executor = std::make_unique<fakes::FakeExecutor>();
      executor->cost_ns = cost_ns;
      executor->noise = 0.003;
      ++executors;
      return executor;
    };
    degraded_.kind = WatchEventKind::degraded;
    degraded_.causes = {{analysis::CauseKind::unknown, {}, {}}};
  }
  void write(const std::string& text) const { std::ofstream(folder_ / "config.yaml", std::ios::trunc) << text; }
  std::string config() const { return base::read_file(folder_ / "config.yaml").value_or(""); }

  RetuneResponder responder() {
    return RetuneResponder(options_, baseline_, *store_, service_, clock_, observer_, [] { return false; });
  }
  Response must(base::Result<Response> response) {
    EXPECT_TRUE(response) << response.error().message;
    return response ? std::move(*response) : Response{};
  }

  fakes::TemporaryFolder folder_;
  std::optional<store::Store> store_;
  fakes::FakeService service_;
  fakes::FakeClock clock_;
  campaign::CampaignObserver observer_;
  Baseline baseline_ = fakes::fake_baseline();
  RetuneResponder::Options options_;
  WatchEvent degraded_;
  WatchState state_;
  std::function<double(const Configuration&)> cost_ns = [](const Configuration& c) {
    return c.get_or("intra_op_num_threads", 0) == Value(2) ? 1e6 : 2e6;
  };
  int executors = 0;
};

TEST_F(RetuneResponderTest, writes_a_proven_win_with_a_backup_and_makes_it_the_baseline) {
  auto retune = responder();
  const auto response = must(retune.respond(degraded_, state_));
  ASSERT_EQ(response.events.size(), 1U);
  const auto& event = response.events[0];
  EXPECT_EQ(event.kind, WatchEventKind::retuned) << text_of(event.message);
  EXPECT_EQ(event.details.at("applied"), true) << text_of(event.message);
  EXPECT_EQ(config(), "onnxruntime:\n  intra_op_num_threads: 2   # by hand\n");
  EXPECT_EQ(base::read_file(event.details.at("backup").get<std::string>()).value_or(""),
            "onnxruntime:\n  intra_op_num_threads: 4   # by hand\n");
  ASSERT_TRUE(response.baseline);
  EXPECT_NEAR(response.baseline->figure.median_ns, 1e6, 2e4);
  EXPECT_EQ(service_.resets, 1) << "the probe's worker must not stay on the GPU meanwhile";
}

TEST_F(RetuneResponderTest, touches_nothing_when_nothing_is_faster) {
  cost_ns = [](const auto&) { return 2e6; };
  auto retune = responder();
  const auto response = must(retune.respond(degraded_, state_));
  ASSERT_EQ(response.events.size(), 1U);
  EXPECT_EQ(response.events[0].details.at("applied"), false);
  EXPECT_FALSE(response.baseline);
  EXPECT_EQ(config(), "onnxruntime:\n  intra_op_num_threads: 4   # by hand\n");
}

TEST_F(RetuneResponderTest, waits_longer_from_one_retune_to_the_next) {
  cost_ns = [](const auto&) { return 2e6; };
  auto retune = responder();
  must(retune.respond(degraded_, state_));
  ASSERT_EQ(executors, 1);
  const auto put_off = must(retune.respond(degraded_, state_));
  ASSERT_EQ(put_off.events.size(), 1U);
  EXPECT_EQ(put_off.events[0].kind, WatchEventKind::retune_put_off);
  clock_.advance(std::chrono::minutes(14));
  EXPECT_TRUE(must(retune.still_degraded(degraded_, state_)).events.empty());
  clock_.advance(std::chrono::minutes(2));
  must(retune.still_degraded(degraded_, state_));
  EXPECT_EQ(executors, 2);
  clock_.advance(std::chrono::minutes(28));
  must(retune.still_degraded(degraded_, state_));
  EXPECT_EQ(executors, 2);
  clock_.advance(std::chrono::minutes(5));
  must(retune.still_degraded(degraded_, state_));
  EXPECT_EQ(executors, 3);
}

TEST_F(RetuneResponderTest, what_settings_cannot_mend_gets_time_to_pass) {
  degraded_.causes = {{analysis::CauseKind::other_process, {}, {}}};
  auto retune = responder();
  const auto response = must(retune.respond(degraded_, state_));
  ASSERT_EQ(response.events.size(), 1U);
  EXPECT_EQ(response.events[0].kind, WatchEventKind::retune_put_off);
  EXPECT_EQ(executors, 0);
  clock_.advance(std::chrono::minutes(16));
  must(retune.still_degraded(degraded_, state_));
  EXPECT_EQ(executors, 1);
}

TEST_F(RetuneResponderTest, a_file_that_vanished_is_an_event_and_a_pause) {
  auto retune = responder();
  std::filesystem::remove(folder_ / "config.yaml");
  const auto response = must(retune.respond(degraded_, state_));
  ASSERT_EQ(response.events.size(), 1U);
  EXPECT_EQ(response.events[0].kind, WatchEventKind::action_failed);
  EXPECT_NE(text_of(response.events[0].message).find("config.yaml: No such file or directory; expected the YAML file"),
            std::string::npos)
      << text_of(response.events[0].message);
  EXPECT_GT(state_.pause.not_before, utc_seconds(clock_.utc_now()));
}

TEST_F(RetuneResponderTest, only_a_degradation_starts_it) {
  auto retune = responder();
  WatchEvent failed;
  failed.kind = WatchEventKind::failed;
  EXPECT_TRUE(must(retune.respond(failed, state_)).events.empty());
  EXPECT_EQ(executors, 0);
}

TEST_F(RetuneResponderTest, asks_the_runs_question_for_the_settings_of_the_file) {
  baseline_.run.request.constraints = {{"latency_p99_ms", true, 60}};
  baseline_.spec.configuration.set("batch_size", 8);
  const auto request = responder().request();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->constraints.size(), 1U);
  EXPECT_EQ(request->current, (Configuration{{"intra_op_num_threads", 4}}));
  EXPECT_EQ(request->space.fixed.get_or("batch_size", 0), Value(8));
  EXPECT_FALSE(request->use_store);
  EXPECT_TRUE(request->check_accuracy);
  EXPECT_EQ(request->accuracy_tolerance, 1e-3);
}

TEST_F(RetuneResponderTest, a_run_without_the_accuracy_check_is_tuned_again_without_it) {
  baseline_.run.request.accuracy_tolerance.reset();
  baseline_.run.request.check_accuracy = false;
  const auto request = responder().request();
  ASSERT_TRUE(request);
  EXPECT_FALSE(request->check_accuracy);
  EXPECT_FALSE(request->accuracy_tolerance.has_value());
}

TEST_F(RetuneResponderTest, its_run_says_that_a_watch_asked_and_for_which_file) {
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  options_.config = "./config.yaml";
  auto retune = responder();
  const auto response = must(retune.respond(degraded_, state_));
  const auto file = (std::filesystem::current_path() / "config.yaml").string();
  std::filesystem::current_path(here);
  ASSERT_TRUE(response.baseline);
  EXPECT_EQ(response.baseline->run.request.config_path, file);
  const auto stored = store_->load<schema::TuneRun>(response.baseline->run.id);
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(stored->request.config_path, file);
  EXPECT_TRUE(stored->request.watch);
  EXPECT_EQ(stored->request.arguments, options_.arguments);
}

}  // namespace
}  // namespace ridgeline::watch
