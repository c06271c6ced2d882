// SPDX-License-Identifier: Apache-2.0
#include "schema/execution_provider.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "schema/catalog.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::schema {
namespace {

TEST(ExecutionProviders, rows_are_complete_and_fall_back_to_the_cpu_in_the_end) {
  std::set<std::string> names;
  for (const auto& row : execution_providers()) {
    EXPECT_TRUE(names.insert(row.id).second) << row.id << " twice";
    EXPECT_FALSE(row.title.empty()) << row.id;
    if (row.plugin) {
      EXPECT_EQ(&plugin_provider(row.library_name), &row) << row.id;
      EXPECT_FALSE(row.instead.empty()) << row.id;
      EXPECT_NE(row.plugin_file.empty(), find_plugin_in(row.plugin_file + ".1") == &row) << row.id;
    } else {
      EXPECT_TRUE(names.insert(row.library_name).second) << row.id << " twice";
      EXPECT_EQ(find_provider_named(row.library_name), &row);
    }
    if (&row == &cpu_provider()) continue;
    EXPECT_NE(row.plugin, find_provider_in(row.file) == &row) << row.id;
    ASSERT_FALSE(row.fallbacks.empty()) << row.id;
    EXPECT_EQ(row.fallbacks.back(), cpu_provider().id) << row.id;
    for (const auto& fallback : row.fallbacks) EXPECT_NE(find_provider(fallback), nullptr) << row.id;
  }
}

TEST(ExecutionProviders, parameters_belong_to_providers_that_there_are) {
  for (const auto& param : catalog())
    for (const auto& id : param.providers) EXPECT_NE(find_provider(id), nullptr) << param.key;
  EXPECT_EQ(find_param("io_binding")->providers, (std::vector<std::string>{"cuda", "tensorrt"}));
  EXPECT_EQ(find_param("gpu_graph_id")->providers, std::vector<std::string>{"cuda"});
}

TEST(ExecutionProviders, the_usual_one_comes_first_and_the_slow_starter_only_when_asked_for) {
  std::vector<std::string> wanted;
  for (const auto* row : auto_providers()) wanted.push_back(row->id);
  EXPECT_EQ(wanted, (std::vector<std::string>{"cuda", "cpu"}));
  EXPECT_EQ(usual_gpu_provider().id, "cuda");
  EXPECT_EQ(provider_ids().front(), "cpu");
}

TEST(ExecutionProviders, what_compiles_is_held_against_the_next_that_does_not) {
  EXPECT_EQ(plain_provider_of("tensorrt").id, "cuda");
  EXPECT_EQ(plain_provider_of("cuda").id, "cuda");
  EXPECT_EQ(plain_provider_of("cpu").id, "cpu");
  for (const auto& row : execution_providers())
    EXPECT_FALSE(plain_provider_of(row.id).plugin) << row.id << ": a reference has no plug-in registered";
}

TEST(ExecutionProviders, an_unknown_one_can_do_nothing) {
  EXPECT_EQ(find_provider("quantum"), nullptr);
  EXPECT_FALSE(runs_on_gpu("quantum"));
  EXPECT_FALSE(provider_of("quantum").takes_device_tensors);
  EXPECT_TRUE(runs_on_gpu("tensorrt"));
  // Known by name alone.
  EXPECT_EQ(find_provider_named("ROCMExecutionProvider")->title, "ROCm");
}

TEST(ExecutionProviders, a_plug_in_has_the_row_of_its_name_or_the_one_for_all_others) {
  EXPECT_EQ(plugin_provider("OpenVINOExecutionProvider").id, "openvino-plugin");
  EXPECT_EQ(find_provider_named("OpenVINOExecutionProvider")->id, "openvino");
  EXPECT_EQ(plugin_provider("QNNExecutionProvider").id, "plugin");
  EXPECT_EQ(find_plugin_in("libonnxruntime_providers_openvino_plugin.so.1.8.1")->id, "openvino-plugin");
  EXPECT_EQ(find_plugin_in("libonnxruntime_providers_openvino.so"), nullptr);
  EXPECT_EQ(namesake_ids("openvino"), (std::vector<std::string>{"openvino", "openvino-plugin"}));
}

TEST(ExecutionProviders, a_runtime_offers_a_plug_in_where_a_library_of_it_has_a_device) {
  RuntimeIdentity runtime;
  runtime.providers = {"CPUExecutionProvider", "OpenVINOExecutionProvider"};
  EXPECT_TRUE(runtime.offers(provider_of("openvino")));
  EXPECT_FALSE(runtime.offers(provider_of("openvino-plugin"))) << "the built-in one is another";
  runtime.plugins = {{"/x.so", "", "", {{"/x.so", "", "WebGpuExecutionProvider", "", "GPU"}}}};
  EXPECT_TRUE(runtime.offers(provider_of("webgpu")));
  EXPECT_FALSE(runtime.offers(provider_of("plugin")));
}

}  // namespace
}  // namespace ridgeline::schema
