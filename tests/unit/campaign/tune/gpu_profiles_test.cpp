// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/gpu_profiles.hpp"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;

const std::vector<GpuProfile> kTwo{
    {"NVIDIA H200", {{"cudnn_conv_algo_search", "HEURISTIC"}, {"prefer_nhwc", true}}, "r1"},
    {"NVIDIA L4", {{"cudnn_conv_algo_search", "DEFAULT"}}, "r2"}};

std::string patched(const std::string& yaml, const std::vector<GpuProfile>& profiles) {
  const auto patch = patch_profiles(yaml, "c.yaml", profiles, "");
  return patch ? patch->text : "error: " + base::error_line(patch.error());
}

TEST(GpuProfiles, a_section_is_appended_and_the_rest_keeps_every_byte) {
  const std::string before = "# mine\nonnxruntime:\n  intra_op_num_threads: 4   # why\n";
  EXPECT_EQ(patched(before, kTwo), before +
                                       "profiles:\n"
                                       "  NVIDIA H200:\n"
                                       "    cudnn_conv_algo_search: HEURISTIC\n"
                                       "    prefer_nhwc: true\n"
                                       "  NVIDIA L4:\n"
                                       "    cudnn_conv_algo_search: DEFAULT\n");
}

TEST(GpuProfiles, an_empty_file_and_a_file_without_a_last_newline_will_do) {
  EXPECT_EQ(patched("", {kTwo[1]}), "profiles:\n  NVIDIA L4:\n    cudnn_conv_algo_search: DEFAULT\n");
  EXPECT_EQ(patched("a: 1", {kTwo[1]}), "a: 1\nprofiles:\n  NVIDIA L4:\n    cudnn_conv_algo_search: DEFAULT");
}

TEST(GpuProfiles, only_changed_values_change_in_a_profile_that_is_there) {
  const std::string before =
      "profiles:\n"
      "  \"NVIDIA H200\":  # ours\n"
      "    cudnn_conv_algo_search: \"DEFAULT\"   # slow\n"
      "    prefer_nhwc: true\n"
      "onnxruntime: {intra_op_num_threads: 4}\n";
  auto after = before;
  after.replace(after.find("DEFAULT"), 7, "HEURISTIC");
  EXPECT_EQ(patched(before, {kTwo[0]}), after);
  EXPECT_EQ(patched(after, {kTwo[0]}), after);
}

TEST(GpuProfiles, a_second_gpu_joins_the_first) {
  const std::string one = patched("a: 1\n", {kTwo[0]});
  EXPECT_EQ(patched(one, {kTwo[1]}), one + "  NVIDIA L4:\n    cudnn_conv_algo_search: DEFAULT\n");
}

TEST(GpuProfiles, what_a_new_answer_leaves_out_goes_back_to_its_default) {
  const std::string before = "profiles:\n  NVIDIA L4:\n    prefer_nhwc: true\n    cudnn_conv_algo_search: HEURISTIC\n";
  EXPECT_EQ(patched(before, {kTwo[1]}),
            "profiles:\n  NVIDIA L4:\n    prefer_nhwc: false\n    cudnn_conv_algo_search: DEFAULT\n");
}

TEST(GpuProfiles, an_answer_of_nothing_but_defaults_is_spelled_out) {
  const auto text = patched("", {kTwo[0], {"NVIDIA L4", {}, "r2"}});
  EXPECT_NE(text.find("  NVIDIA L4:\n    cudnn_conv_algo_search: EXHAUSTIVE\n    prefer_nhwc: false\n"),
            std::string::npos)
      << text;
}

TEST(GpuProfiles, an_answer_of_nothing_but_defaults_undoes_what_profiles_in_the_file_set) {
  const std::string before = "profiles:\n  NVIDIA H200:\n    prefer_nhwc: true\n";
  EXPECT_EQ(patched(before, {{"cpu", {}, "r1"}}), before + "  cpu:\n    prefer_nhwc: false\n");
  EXPECT_EQ(patched("a: 1\n", {{"cpu", {}, "r1"}}), "a: 1\n");
}

TEST(GpuProfiles, what_is_written_is_read_back) {
  const auto read = read_profiles(patched("x: {y: 1}\n", kTwo), "c.yaml");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].name, kTwo[i].name);
    EXPECT_EQ((*read)[i].settings, kTwo[i].settings);
  }
  EXPECT_TRUE(read_profiles("a: 1\n", "c.yaml")->empty());
  EXPECT_TRUE(read_profiles("profiles:\n", "c.yaml")->empty());
}

TEST(GpuProfiles, another_programs_profiles_are_left_alone) {
  for (const auto* yaml :
       {"profiles: [a, b]\n", "profiles: {dev: {port: 80}}\n",
        "profiles:\n  base: &b\n    prefer_nhwc: true\nx:\n  <<: *b\n", "profiles: {dev: {prefer_nhwc: [1]}}\n"}) {
    const auto read = read_profiles(yaml, "c.yaml");
    ASSERT_FALSE(read) << yaml;
    EXPECT_NE(read.error().message.find("c.yaml:"), std::string::npos) << read.error().message;
    EXPECT_EQ(patched(yaml, kTwo).rfind("error: c.yaml:", 0), 0U) << yaml;
  }
}

TEST(GpuProfiles, the_current_settings_are_never_read_from_or_written_into_a_profile) {
  const std::string yaml = patched("onnxruntime:\n  prefer_nhwc: false\n", kTwo);
  const auto found = config::read_settings(yaml, "c.yaml", {});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().path, "onnxruntime.prefer_nhwc");
  const auto only_profiles =
      config::patch_settings(patched("", {kTwo[1]}), "c.yaml", {{"cudnn_conv_algo_search", "HEURISTIC"}}, {});
  ASSERT_TRUE(only_profiles) << only_profiles.error().message;
  ASSERT_EQ(only_profiles->edits.size(), 1U);
  EXPECT_EQ(only_profiles->edits.front().path, "onnxruntime.cudnn_conv_algo_search");
}

TEST(GpuProfiles, a_match_sets_its_own_values_and_undoes_those_of_others) {
  EXPECT_EQ(settings_for(kTwo, "NVIDIA L4", "c.yaml").value(),
            (Configuration{{"cudnn_conv_algo_search", "DEFAULT"}, {"prefer_nhwc", false}}));
  const auto none = settings_for(kTwo, "NVIDIA T4", "c.yaml");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no profile \"NVIDIA T4\"; it has \"NVIDIA H200\", \"NVIDIA L4\""),
            std::string::npos)
      << none.error().message;
}

/// "path=value ..." of settings to be taken out by hand.
std::string paths_of(const base::Result<std::vector<config::FoundSetting>>& settings) {
  if (!settings) return "error: " + base::error_line(settings.error());
  std::string text;
  for (const auto& one : *settings)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", one.path, one.value.to_text());
  return text;
}

TEST(GpuProfiles, a_match_tells_what_of_others_it_cannot_undo) {
  const std::vector<GpuProfile> profiles{{"NVIDIA H200", {{"gpu_mem_limit_gb", 8.0}, {"prefer_nhwc", true}}, ""},
                                         {"NVIDIA L4", {{"cudnn_conv_algo_search", "DEFAULT"}}, ""}};
  const auto left = [&](const std::string& section, const std::string& name) {
    const auto wanted = settings_for(profiles, name, "c.yaml").value();
    return paths_of(left_by_match(patched(section, profiles), "c.yaml", profiles, wanted, {}));
  };
  const std::string with_limit = "onnxruntime:\n  gpu_mem_limit_gb: 8\n  prefer_nhwc: true\n";
  EXPECT_EQ(left(with_limit, "NVIDIA L4"), "onnxruntime.gpu_mem_limit_gb=8");
  EXPECT_EQ(left(with_limit, "NVIDIA H200"), "");
  EXPECT_EQ(left("onnxruntime:\n  prefer_nhwc: true\n", "NVIDIA L4"), "");
  EXPECT_EQ(left("onnxruntime:\n  intra_op_spin_duration_us: 100\n", "NVIDIA L4"), "") << "no profile sets it";
}

TEST(GpuProfiles, a_new_answer_tells_what_it_cannot_take_out_of_the_old_one) {
  const std::string before =
      "profiles:\n  NVIDIA L4:\n    gpu_mem_limit_gb: 8\n    prefer_nhwc: true\n"
      "  NVIDIA H200:\n    gpu_mem_limit_gb: 16\n";
  EXPECT_EQ(paths_of(left_by_profiles(before, "c.yaml", {kTwo[1]}, {})), "profiles.NVIDIA L4.gpu_mem_limit_gb=8");
  EXPECT_EQ(paths_of(left_by_profiles(before, "c.yaml", {{"NVIDIA L4", {{"gpu_mem_limit_gb", 4.0}}, "r"}}, {})), "");
  EXPECT_EQ(paths_of(left_by_profiles("a: 1\n", "c.yaml", kTwo, {})), "");
}

TEST(GpuProfiles, a_new_answer_tells_what_it_cannot_take_out_of_the_applications_section) {
  const GpuProfile dropped{"NVIDIA L4", {{"prefer_nhwc", true}}, "r", {"gpu_mem_limit_gb"}};
  const std::string section = "onnxruntime:\n  gpu_mem_limit_gb: 8\n";
  EXPECT_EQ(paths_of(left_by_profiles(section, "c.yaml", {dropped}, {})), "onnxruntime.gpu_mem_limit_gb=8");
  EXPECT_EQ(paths_of(left_by_profiles("a: 1\n", "c.yaml", {dropped}, {})), "");
  const GpuProfile other{"NVIDIA H200", {{"gpu_mem_limit_gb", 8.0}}, "r"};
  EXPECT_EQ(paths_of(left_by_profiles(section, "c.yaml", {dropped, other}, {})), "") << "--match tells it";
}

TEST(GpuProfiles, a_name_with_a_dot_is_refused) {
  EXPECT_NE(patched("", {{"GPU 1.5", {{"prefer_nhwc", true}}, ""}}).find("\"GPU 1.5\" cannot be"), std::string::npos);
}

schema::TuneRun answer(const std::string& id, const std::string& gpu, Configuration best) {
  schema::TuneRun run;
  run.id = id;
  run.started_utc = run.finished_utc = "2026-11-21T08:00:00Z";
  run.workload.kind = "onnx";
  run.workload.content_sha256 = "abc";
  run.provider = gpu == "cpu" ? "cpu" : "cuda";
  run.device = gpu == "cpu" ? "cpu:x/2" : "gpu:GPU-" + gpu;
  run.environment.gpus.resize(1);
  run.environment.gpus[0].name = "NVIDIA " + gpu.substr(0, 2);
  run.environment.gpus[0].uuid = "GPU-" + gpu;
  run.verdict.emplace().decision = schema::Decision::change;
  run.verdict->configuration = std::move(best);
  return run;
}

class GpuProfilesOfRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "rl-profiles-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    auto opened = store::Store::open(folder_ / "r.db");
    ASSERT_TRUE(opened) << opened.error().message;
    store_.emplace(std::move(*opened));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  schema::TuneRun save(schema::TuneRun run) {
    EXPECT_TRUE(store_->save_run(schema::to_run(run)));
    return run;
  }
  std::string collected(const schema::TuneRun& run) {
    const auto profiles = collect_profiles(*store_, run);
    std::string text;
    for (const auto& profile : profiles->profiles) text += fmt::format("{}={} ", profile.name, profile.run_id);
    return text;
  }
  std::vector<std::string> notes(const schema::TuneRun& run) { return collect_profiles(*store_, run)->notes; }
  std::filesystem::path folder_;
  std::optional<store::Store> store_;
};

TEST_F(GpuProfilesOfRuns, the_newest_answer_of_each_gpu_model_counts) {
  save(answer("20261121-080000-aaaa", "H2-1", {{"prefer_nhwc", true}}));
  save(answer("20261121-080100-aaaa", "H2-2", {}));
  save(answer("20261121-080200-aaaa", "cpu", {}));
  auto other = answer("20261121-080300-aaaa", "T4", {});
  other.workload.content_sha256 = "another model";
  save(other);
  auto interrupted = answer("20261121-080400-aaaa", "A1", {});
  interrupted.interrupted = true;
  save(interrupted);
  auto throughput = answer("20261121-080500-aaaa", "V1", {});
  throughput.request.objective = schema::Objective::throughput;
  save(throughput);
  const auto last = save(answer("20261121-080600-aaaa", "L4", {}));
  EXPECT_EQ(collected(last), "NVIDIA H2=20261121-080100-aaaa NVIDIA L4=20261121-080600-aaaa cpu=20261121-080200-aaaa ");
}

TEST_F(GpuProfilesOfRuns, the_run_named_is_the_answer_for_its_own_gpu) {
  const auto old = save(answer("20261121-080000-aaaa", "H2-1", {}));
  save(answer("20261121-080100-aaaa", "H2-1", {}));
  EXPECT_EQ(collected(old), "NVIDIA H2=20261121-080000-aaaa ");
}

TEST_F(GpuProfilesOfRuns, an_answer_under_other_constraints_is_left_out_with_a_note) {
  save(answer("20261121-080000-aaaa", "L4-1", {}));
  auto limited = answer("20261121-080100-aaaa", "L4-1", {});
  limited.request.constraints = {{"gpu_memory_gb", true, 2}};
  save(limited);
  const auto last = save(answer("20261121-080200-aaaa", "H2-1", {}));
  EXPECT_EQ(collected(last), "NVIDIA H2=20261121-080200-aaaa NVIDIA L4=20261121-080000-aaaa ");
  EXPECT_EQ(notes(last), std::vector<std::string>{"NVIDIA L4: run 20261121-080100-aaaa is left out: tuned with "
                                                  "gpu_memory_gb<=2, run 20261121-080200-aaaa with no constraint"});
  EXPECT_EQ(collected(limited), "NVIDIA L4=20261121-080100-aaaa ");
}

TEST_F(GpuProfilesOfRuns, the_order_of_constraints_does_not_matter) {
  auto first = answer("20261121-080000-aaaa", "L4-1", {});
  first.request.constraints = {{"gpu_memory_gb", true, 2}, {"latency_p99_ms", true, 20}};
  save(first);
  auto last = answer("20261121-080100-aaaa", "H2-1", {});
  last.request.constraints = {{"latency_p99_ms", true, 20}, {"gpu_memory_gb", true, 2}};
  save(last);
  EXPECT_EQ(collected(last), "NVIDIA H2=20261121-080100-aaaa NVIDIA L4=20261121-080000-aaaa ");
  EXPECT_TRUE(notes(last).empty());
}

TEST_F(GpuProfilesOfRuns, an_accuracy_tolerance_that_was_asked_for_counts_and_what_a_default_comes_to_does_not) {
  auto by_default = answer("20261121-080000-aaaa", "L4-1", {});
  by_default.accuracy_tolerance = 0.001;
  save(by_default);
  auto off = answer("20261121-080100-aaaa", "T4-1", {});
  off.request.check_accuracy = false;
  save(off);
  auto last = answer("20261121-080200-aaaa", "H2-1", {});
  last.accuracy_tolerance = 0.004;
  save(last);
  auto same = answer("20261121-080150-aaaa", "A1-1", {});
  same.request.arguments = {"ridgeline", "tune", "--accuracy-tolerance.onnx"};
  save(same);
  EXPECT_EQ(collected(last),
            "NVIDIA A1=20261121-080150-aaaa NVIDIA H2=20261121-080200-aaaa NVIDIA L4=20261121-080000-aaaa ");
  EXPECT_EQ(notes(last),
            std::vector<std::string>{"NVIDIA T4: run 20261121-080100-aaaa is left out: tuned with accuracy tolerance "
                                     "off, run 20261121-080200-aaaa with the default accuracy tolerance"});
}

TEST_F(GpuProfilesOfRuns, settings_that_the_answer_drops_are_spelled_out) {
  auto run = answer("20261121-080000-aaaa", "H2-1", {{"cudnn_conv_algo_search", "HEURISTIC"}});
  run.current = {{"prefer_nhwc", true}, {"cudnn_conv_algo_search", "DEFAULT"}};
  EXPECT_EQ(profile_of(run).settings, (Configuration{{"cudnn_conv_algo_search", "HEURISTIC"}, {"prefer_nhwc", false}}));
  EXPECT_TRUE(profile_of(run).unset.empty());
  run.current.set("gpu_mem_limit_gb", 8.0);
  EXPECT_EQ(profile_of(run).unset, std::vector<std::string>{"gpu_mem_limit_gb"});
}

TEST_F(GpuProfilesOfRuns, files_are_replaced_with_a_backup_that_rollback_restores) {
  const auto file = folder_ / "c.yaml";
  const std::string before = "a: 1  # x\n";
  ASSERT_TRUE(base::write_file_atomically(file, before));
  const auto applied = apply_profiles(file, kTwo, "ridgeline", "2026-11-21T08:00:00Z");
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_FALSE(applied->backup.empty());
  EXPECT_EQ(applied->patch.edits.size(), 3U);
  EXPECT_NE(base::read_file(file)->find("prefer_nhwc: true  # ridgeline r1"), std::string::npos);
  ASSERT_TRUE(config::rollback(file));
  EXPECT_EQ(*base::read_file(file), before);
}

}  // namespace
}  // namespace ridgeline::campaign
