// SPDX-License-Identifier: Apache-2.0
#include "schema/configuration.hpp"

#include <gtest/gtest.h>

#include "schema/error_message.hpp"
#include "schema/messages.hpp"
#include "schema/trial_spec.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::schema {
namespace {

TEST(Configuration, equal_settings_have_equal_hashes_whatever_the_order) {
  Configuration a;
  a.set("b", 2);
  a.set("a", true);
  const Configuration b{{"a", true}, {"b", 2}};
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_NE(a.hash(), a.with("b", 3).hash());
  EXPECT_NE(a.with("b", 2.0).hash(), a.with("b", "2").hash());
}

TEST(Configuration, differing_keys_sees_absent_values) {
  const Configuration a{{"x", 1}, {"y", 2}};
  const Configuration b{{"y", 3}, {"z", 4}};
  EXPECT_EQ(differing_keys(a, b), (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_TRUE(differing_keys(a, a).empty());
}

TEST(Configuration, round_trips_through_json) {
  const Configuration a{{"flag", true}, {"count", 7}, {"share", 0.25}, {"mode", "all"}};
  const auto back = base::json_as<Configuration>(base::parse_json(a.canonical(), "test").value(), "test");
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, a);
}

TEST(TrialSpec, key_ignores_paths_and_sees_everything_else) {
  TrialSpec spec;
  spec.workload.location = "/a/model.onnx";
  spec.workload.content_sha256 = "1234";
  const auto key = spec.key();
  spec.workload.location = "/b/model.onnx";
  spec.runtime.library_path = "/elsewhere/libonnxruntime.so";
  EXPECT_EQ(spec.key(), key);
  const std::vector<std::function<void(TrialSpec&)>> changes{
      [](TrialSpec& s) { s.workload.content_sha256 = "other"; },
      [](TrialSpec& s) {
        s.workload.shapes = {{{"x", {1, 3}}}};
      },
      [](TrialSpec& s) { s.workload.seed = 2; },
      [](TrialSpec& s) { s.provider = "cuda"; },
      [](TrialSpec& s) { s.device = "cpu:other"; },
      [](TrialSpec& s) { s.runtime.version = "1.30.0"; },
      [](TrialSpec& s) { s.runtime.library_sha256 = "ff"; },
      [](TrialSpec& s) { s.configuration.set("intra_op_num_threads", 2); },
      [](TrialSpec& s) { s.plan.runs = 5; },
      [](TrialSpec& s) { s.calls_per_wait = 16; },
  };
  for (const auto& change : changes) {
    auto other = spec;
    change(other);
    EXPECT_NE(other.key(), key);
  }
}

TEST(TrialSpec, key_sees_the_versions_of_its_own_providers_libraries_only) {
  TrialSpec cpu;
  TrialSpec cuda;
  cuda.provider = "cuda";
  const auto with = [](TrialSpec spec, const std::string& provider, const std::string& version) {
    spec.runtime.provider_libraries[provider] = {{"libcudnn.so", version}};
    return spec.key();
  };
  EXPECT_EQ(with(cpu, "cuda", "9.10.2"), cpu.key());
  EXPECT_NE(with(cuda, "cuda", "9.10.2"), with(cuda, "cuda", "9.19.0"));
  EXPECT_EQ(with(cuda, "tensorrt", "9.10.2"), cuda.key());
  cuda.runtime.provider_notes["tensorrt"].message = messages::foreign("libnvinfer.so.10 is not found");
  EXPECT_EQ(cuda.key(), [] {
    TrialSpec spec;
    spec.provider = "cuda";
    return spec.key();
  }());
}

TEST(TrialSpec, key_sees_what_plugin_it_is_but_not_where) {
  TrialSpec plain;
  auto plugin = plain;
  plugin.plugin = ProviderPlugin{"/a/plugin.so", "1f", "OpenVINOExecutionProvider", "1.8.1", "CPU"};
  auto elsewhere = plugin;
  elsewhere.plugin->library_path = "/b/plugin.so";
  auto other_device = plugin;
  other_device.plugin->device = "GPU";
  EXPECT_NE(plugin.key(), plain.key());
  EXPECT_EQ(plugin.key(), elsewhere.key());
  EXPECT_NE(plugin.key(), other_device.key());
  EXPECT_EQ(base::Json(plugin).get<TrialSpec>().key(), plugin.key());
}

TEST(PairedSpec, key_sees_what_the_other_arm_runs_on) {
  PairedSpec one_process;
  auto two = one_process;
  two.across = two.base;
  auto other_runtime = two;
  other_runtime.across->runtime.version = "1.24.1";
  EXPECT_NE(one_process.key(), two.key());
  EXPECT_NE(two.key(), other_runtime.key());
  EXPECT_EQ(base::Json(two).get<PairedSpec>().key(), two.key());
}

TEST(RuntimeIdentity, reads_provider_notes_of_older_records_and_its_own) {
  const auto old =
      base::Json::parse(R"({"provider_notes":{"cuda":"libcudnn.so.9 is not found"}})").get<RuntimeIdentity>();
  EXPECT_EQ(own_text(old.provider_notes.at("cuda").reason()), "libcudnn.so.9 is not found");
  RuntimeIdentity identity;
  identity.provider_notes["cuda"] = {messages::foreign("a is not found"),
                                     messages::foreign("/x; /y"),
                                     messages::foreign("install it"),
                                     {"a", "b", "c"}};
  const auto back = base::Json::parse(base::Json(identity).dump()).get<RuntimeIdentity>().provider_notes.at("cuda");
  EXPECT_EQ(own_text(back.reason()), "a is not found; looked in: /x; /y; missing as well: b, c");
  EXPECT_EQ(back.hint, messages::foreign("install it"));
}

TEST(TuneRun, round_trips_through_json_with_its_optional_parts) {
  TuneRun run;
  run.id = "r";
  run.trials.push_back({.id = 1, .stage = TrialStage::screening, .key = "k", .configuration = {{"a", 1}}});
  run.pairs.push_back({.setting = "a", .comparison = Comparison{.ratio = 1.5, .verdict = Verdict::faster}});
  run.verdict = TuneVerdict{.decision = Decision::change, .gain = Comparison{}};
  run.environment.governor = "performance";
  const base::Json json = run;
  const auto back = base::json_as<TuneRun>(json, "run");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(base::Json(*back), json);
}

TEST(TuneRun, an_unknown_enum_name_is_corrupt_not_a_silent_default) {
  base::Json json = TuneRun{};
  json["request"]["objective"] = "speed";
  const auto back = base::json_as<TuneRun>(json, "run");
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, base::ErrorCode::corrupt);
}

}  // namespace
}  // namespace ridgeline::schema
