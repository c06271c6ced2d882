// SPDX-License-Identifier: Apache-2.0
#include "watch/baseline.hpp"

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"
#include "fakes/words.hpp"

namespace ridgeline::watch {
namespace {

class BaselineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = store::Store::open(folder_ / "results.db");
    ASSERT_TRUE(opened) << opened.error().message;
    store_.emplace(std::move(*opened));
    here_.cpu_model = "Test CPU";
    here_.usable_cpus = 8;
    auto& card = here_.gpus.emplace_back();
    card.name = "NVIDIA H200";
    card.uuid = "GPU-1";
    card.index = 0;
  }

  /// A finished run whose second trial, of `median_ms`, was recommended.
  schema::TuneRun make(const std::string& id, const std::string& device, double median_ms = 4) {
    schema::TuneRun run;
    run.id = id;
    run.command_line = "ridgeline tune model.onnx";
    run.started_utc = id.substr(0, 4) + "-01-01T00:00:00Z";
    run.finished_utc = run.started_utc;
    run.device = device;
    run.environment.gpus = {{"NVIDIA H200", device.substr(4)}};
    run.model.path = "models/model.onnx";
    run.workload.kind = "onnx";
    run.workload.content_sha256 = "abc";
    run.workload.location = run.model.path;
    for (int trial = 1; trial <= 2; ++trial) {
      schema::TrialSpec spec;
      spec.device = device;
      spec.workload = run.workload;
      spec.configuration.set("intra_op_num_threads", trial);
      spec.workload.seed = static_cast<std::uint64_t>(median_ms * 1000);  // another key
      schema::TrialOutcome outcome;
      outcome.measurement.emplace().latency_ns.assign(100, median_ms * 1e6 * (3 - trial));
      outcome.measurement->flags.push_back({schema::FlagLevel::notice, "disturbed", fakes::legacy("others ran")});
      EXPECT_TRUE(store_->save_trial(spec, outcome));
      schema::TunedTrial entry;
      entry.id = trial;
      entry.key = spec.key();
      entry.configuration = spec.configuration;
      run.trials.push_back(entry);
    }
    auto& verdict = run.verdict.emplace();
    verdict.decision = schema::Decision::keep;
    verdict.trial_id = 2;
    return run;
  }
  void save(const schema::TuneRun& run) {
    const auto saved = store_->save_run(schema::to_run(run));
    ASSERT_TRUE(saved) << saved.error().message;
  }
  std::string refusal(const BaselineRequest& request) {
    const auto found = find_baseline(*store_, request, here_);
    EXPECT_FALSE(found);
    return found ? found->name : base::error_line(found.error());
  }
  std::string found(const BaselineRequest& request) {
    const auto baseline = find_baseline(*store_, request, here_);
    return baseline ? baseline->name : base::error_line(baseline.error());
  }

  fakes::TemporaryFolder folder_;
  std::optional<store::Store> store_;
  schema::Environment here_;
};

TEST_F(BaselineTest, is_the_recommended_trial_as_it_was_measured) {
  save(make("2025-a", "gpu:GPU-1"));
  const auto baseline = find_baseline(*store_, {"2025-a", ""}, here_);
  ASSERT_TRUE(baseline) << baseline.error().message;
  EXPECT_EQ(baseline->name, "2025-a/2");
  EXPECT_DOUBLE_EQ(baseline->figure.median_ns, 4e6);
  EXPECT_EQ(baseline->state.model_sha256, "abc");
  EXPECT_EQ(baseline->state.configuration, (schema::Configuration{{"intra_op_num_threads", 2}}));
  EXPECT_EQ(fakes::text_of(baseline->state.disturbance), "others ran");
}

TEST_F(BaselineTest, the_latest_is_the_newest_that_fits_this_machine_and_model) {
  save(make("2021-a", "gpu:GPU-1"));
  save(make("2022-b", "cpu:Test CPU/4"));
  save(make("2023-c", "gpu:GPU-2"));
  auto nothing = make("2024-d", "gpu:GPU-1");
  nothing.verdict->decision = schema::Decision::none;
  save(nothing);
  auto other = make("2025-e", "gpu:GPU-1");
  other.model.path = other.workload.location = "models/other.onnx";
  save(other);
  EXPECT_NE(refusal({"latest", ""}).find("several models fit (model.onnx, other.onnx)"), std::string::npos);
  EXPECT_EQ(found({"latest", "other.onnx"}), "2025-e/2");
  EXPECT_EQ(found({"latest", "/srv/model.onnx"}), "2022-b/2") << "fewer CPUs are a cause, not another machine";
  here_.cpu_model = "Another CPU";
  EXPECT_EQ(found({"", "model.onnx"}), "2021-a/2");
}

TEST_F(BaselineTest, of_several_models_the_latest_is_that_of_the_config) {
  auto mine = make("2021-a", "gpu:GPU-1");
  mine.request.config_path = "/etc/mine/config.yaml";
  save(mine);
  auto other = make("2022-b", "gpu:GPU-1");
  other.model.path = other.workload.location = "other.onnx";
  other.request.config_path = "/etc/other/config.yaml";
  save(other);
  EXPECT_EQ(found({"latest", "", "/etc/mine/config.yaml"}), "2021-a/2");
  EXPECT_EQ(found({"latest", "", "/etc/mine/../other/config.yaml"}), "2022-b/2");
  EXPECT_NE(refusal({"latest", "", "/etc/third/config.yaml"}).find("name one with --model"), std::string::npos);
}

TEST_F(BaselineTest, a_config_of_the_same_name_in_another_folder_is_another_services) {
  const auto here = std::filesystem::current_path();
  std::filesystem::create_directories(folder_ / "a");
  std::filesystem::create_directories(folder_ / "b");
  auto mine = make("2021-a", "gpu:GPU-1");
  mine.request.config_path = folder_ / "a/config.yaml";
  save(mine);
  auto other = make("2022-b", "gpu:GPU-1");
  other.model.path = other.workload.location = "other.onnx";
  other.request.config_path = folder_ / "b/config.yaml";
  save(other);
  // An older run, which knows that word and no folder.
  auto old = make("2023-c", "gpu:GPU-1");
  old.model.path = old.workload.location = "old.onnx";
  old.request.config_path = "config.yaml";
  save(old);
  std::filesystem::current_path(folder_ / "a");
  EXPECT_EQ(found({"latest", "", "config.yaml"}), "2021-a/2");
  EXPECT_EQ(found({"latest", "", "../b/./config.yaml"}), "2022-b/2");
  EXPECT_EQ(found({"latest", "", folder_ / "a/config.yaml"}), "2021-a/2") << "tuned by a relative name";
  std::filesystem::create_directory_symlink(folder_ / "b", folder_ / "current");
  EXPECT_EQ(found({"latest", "", folder_ / "current/config.yaml"}), "2022-b/2");
  EXPECT_NE(refusal({"latest", "", folder_ / "config.yaml"}).find("several models fit"), std::string::npos);
  std::filesystem::current_path(here);
}

TEST_F(BaselineTest, a_relative_name_of_an_older_run_is_the_config_when_nothing_better_is_known) {
  save(make("2021-a", "gpu:GPU-1"));
  const auto of_model = [this](const std::string& id, const std::string& model) {
    auto run = make(id, "gpu:GPU-1");
    run.model.path = run.workload.location = model;
    run.request.config_path = "config.yaml";
    save(run);
  };
  of_model("2023-c", "third.onnx");
  EXPECT_EQ(found({"latest", "", "config.yaml"}), "2023-c/2");
  EXPECT_NE(refusal({"latest", "", "/srv/config.yaml"}).find("several models fit"), std::string::npos);
  of_model("2024-d", "fourth.onnx");
  EXPECT_NE(refusal({"latest", "", "config.yaml"}).find("several models fit (fourth.onnx, third.onnx)"),
            std::string::npos)
      << refusal({"latest", "", "config.yaml"});
}

TEST_F(BaselineTest, a_run_of_store_schema_3_is_one_as_before) {
  std::filesystem::copy_file(std::filesystem::path(RL_TEST_DATA) / "results" / "schema3.db", folder_ / "old.db");
  std::filesystem::permissions(folder_ / "old.db", std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  auto old = std::move(*store::Store::open(folder_ / "old.db"));
  const auto run = old.load<schema::TuneRun>("20261125-132900-34e8");
  ASSERT_TRUE(run) << run.error().message;
  const auto baseline =
      find_baseline(old, {"latest", "cls.onnx", "/tmp/ridgeline-results/config.yaml"}, run->environment);
  ASSERT_TRUE(baseline) << baseline.error().message;
  EXPECT_EQ(baseline->run.id, run->id);
}

TEST_F(BaselineTest, the_configs_run_is_found_behind_those_of_many_other_models) {
  auto mine = make("2001-a", "gpu:GPU-1");
  mine.request.config_path = "/etc/mine/config.yaml";
  save(mine);
  for (int i = 0; i < 9; ++i) {
    auto other = make(fmt::format("20{}-b", 10 + i), "gpu:GPU-1");
    other.model.path = other.workload.location = fmt::format("other{}.onnx", i);
    save(other);
  }
  EXPECT_EQ(found({"latest", "", "/etc/mine/config.yaml"}), "2001-a/2");
  EXPECT_NE(refusal({"latest", "", "/etc/third/config.yaml"}).find("several models fit"), std::string::npos);
}

TEST_F(BaselineTest, a_config_whose_run_is_of_another_machine_gets_no_other_services_run) {
  auto mine = make("2021-a", "gpu:GPU-2");
  mine.request.config_path = "/etc/mine/config.yaml";
  save(mine);
  auto other = make("2022-b", "gpu:GPU-1");
  other.model.path = other.workload.location = "other.onnx";
  save(other);
  const auto line = refusal({"latest", "", "/etc/mine/config.yaml"});
  EXPECT_NE(line.find("no run of /etc/mine/config.yaml was measured on this machine's 0 (NVIDIA H200, GPU-1): the "
                      "newest, 2021-a, is of gpu:GPU-2"),
            std::string::npos)
      << line;
  EXPECT_EQ(found({"latest", "other.onnx", "/etc/mine/config.yaml"}), "2022-b/2") << "named";
  save(make("2023-c", "gpu:GPU-1"));
  EXPECT_NE(refusal({"latest", "", "/etc/mine/config.yaml"}).find("no run of"), std::string::npos);
  EXPECT_EQ(found({"latest", "model.onnx", "/etc/mine/config.yaml"}), "2023-c/2") << "of the same model";
}

TEST_F(BaselineTest, gpus_that_cannot_be_read_are_told) {
  save(make("2021-a", "gpu:GPU-1"));
  here_.gpus = {{}};
  here_.gpus[0].index = 0;
  here_.gpu_note = fakes::legacy("the driver is ill");
  for (const auto* run : {"latest", "2021-a"}) {
    const auto line = refusal({run, ""});
    EXPECT_NE(line.find("2021-a"), std::string::npos) << line;
    EXPECT_NE(line.find("the GPUs of this machine cannot be read (the driver is ill)"), std::string::npos) << line;
    EXPECT_NE(line.find("ridgeline doctor"), std::string::npos) << line;
  }
  here_.gpu_note = {};
  EXPECT_NE(refusal({"latest", ""}).find("cannot be read (the driver reports no UUID of GPU 0)"), std::string::npos)
      << refusal({"latest", ""});
}

TEST_F(BaselineTest, a_watchs_own_retune_counts_only_when_it_changed_something) {
  save(make("2021-a", "gpu:GPU-1"));
  auto kept = make("2022-b", "gpu:GPU-1", 6);
  kept.request.watch = true;
  save(kept);
  EXPECT_EQ(found({"latest", ""}), "2021-a/2");
  auto changed = make("2023-c", "gpu:GPU-1", 5);
  changed.request.watch = true;
  changed.verdict->decision = schema::Decision::change;
  changed.verdict->gain.emplace().verdict = schema::Verdict::faster;
  save(changed);
  EXPECT_EQ(found({"latest", ""}), "2023-c/2");
}

TEST_F(BaselineTest, slips_are_one_clear_line) {
  EXPECT_NE(refusal({"latest", ""}).find("start with: ridgeline tune"), std::string::npos);
  save(make("2023-c", "gpu:GPU-2"));
  EXPECT_NE(refusal({"latest", ""}).find("2023-c, is of gpu:GPU-2"), std::string::npos) << refusal({"latest", ""});
  EXPECT_NE(
      refusal({"2023-c", ""}).find("was measured on NVIDIA H200 GPU-2, and this machine has 0 (NVIDIA H200, GPU-1"),
      std::string::npos)
      << refusal({"2023-c", ""});
  EXPECT_NE(refusal({"1999", ""}).find("1999"), std::string::npos);
  auto nothing = make("2024-d", "gpu:GPU-1");
  nothing.verdict->decision = schema::Decision::none;
  nothing.verdict->reason = fakes::legacy("none of 7 configurations ran to the end");
  save(nothing);
  EXPECT_NE(refusal({"2024-d", ""}).find("no recommendation: none of 7"), std::string::npos);
  nothing.id = "2024-e";
  nothing.verdict.reset();
  save(nothing);
  EXPECT_NE(refusal({"2024-e", ""}).find("was not finished"), std::string::npos);
  save(make("2025-f", "gpu:GPU-1"));
  EXPECT_NE(refusal({"2025-f", "other.onnx"}).find("not of other.onnx"), std::string::npos);
  auto lost = make("2026-g", "gpu:GPU-1");
  for (auto& trial : lost.trials) trial.key = "gone";
  save(lost);
  EXPECT_NE(refusal({"2026-g", ""}).find("tune again"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::watch
