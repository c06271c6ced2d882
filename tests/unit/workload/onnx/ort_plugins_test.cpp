// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_plugins.hpp"

#include <algorithm>

#include "fakes/words.hpp"
#include "unit/workload/onnx/ort_fixture.hpp"
#include "workload/onnx/node_assignment.hpp"
#include "workload/onnx/session_settings.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

class OrtPlugins : public OrtTest {
 protected:
  void SetUp() override {
    auto library = OrtLibrary::open("", test_search());
    ASSERT_TRUE(library) << library.error().message;
    environment_ = OrtEnvironment::create(std::move(*library)).value();
    if (environment_->library().api_version() < kFirstApiThatTellsNodes)
      GTEST_SKIP() << "needs ONNX Runtime 1.24, this is " << environment_->library().version();
  }
  schema::TrialSpec plugin_spec() {
    auto trial = spec(fakes::TinyOnnx()
                          .input("x", 1, {"1", "4"})
                          .output("y", 1, {"1", "4"})
                          .node("Relu", {"x"}, {"h"})
                          .node("Neg", {"h"}, {"y"}));
    trial.provider = "plugin";
    trial.workload.shapes = {{{"x", {1, 4}}}};
    trial.plugin = schema::ProviderPlugin{RL_TEST_RELU_PLUGIN, "", "ReluExecutionProvider", "1.2.3", "CPU"};
    return trial;
  }
  std::unique_ptr<OrtEnvironment> environment_;
};

TEST_F(OrtPlugins, a_library_tells_its_provider_its_version_and_its_devices) {
  std::vector<schema::PluginLibrary> plugins{{RL_TEST_RELU_PLUGIN, "", "", {}}, {RL_TEST_RELU_PLUGIN, "Other", "", {}}};
  ask_plugins(*environment_, plugins, test_search());
  ASSERT_EQ(plugins[0].offers.size(), 1U) << fakes::text_of(plugins[0].note->message);
  const auto& offer = plugins[0].offers[0];
  EXPECT_EQ(offer.ep_name, "ReluExecutionProvider");
  EXPECT_EQ(offer.version, "1.2.3");
  EXPECT_EQ(offer.device, "CPU");
  EXPECT_EQ(offer.library_sha256.size(), 64U);
  ASSERT_TRUE(plugins[1].note);
  EXPECT_NE(fakes::text_of(plugins[1].note->message).find("has no provider Other, but ReluExecutionProvider"),
            std::string::npos)
      << fakes::text_of(plugins[1].note->message);
}

TEST_F(OrtPlugins, what_cannot_be_used_says_why) {
  std::vector<schema::PluginLibrary> plugins{{RL_TEST_RELU_PLUGIN_WITHOUT_DEVICE, "", "", {}},
                                             {"/nowhere/plugin.so", "", "", {}},
                                             {RL_TEST_OLD_ORT, "", "", {}}};
  ask_plugins(*environment_, plugins, test_search());
  const std::vector<std::string> reasons{"offers no device here", "there is no such file", "CreateEpFactories"};
  for (std::size_t at = 0; at < plugins.size(); ++at) {
    ASSERT_TRUE(plugins[at].note) << plugins[at].library_path;
    EXPECT_NE(fakes::text_of(plugins[at].note->message).find(reasons[at]), std::string::npos)
        << fakes::text_of(plugins[at].note->message);
    EXPECT_NE(fakes::text_of(plugins[at].note->message).find(plugins[at].library_path), std::string::npos);
    EXPECT_EQ(fakes::text_of(plugins[at].note->message).find('\n'), std::string::npos);
    EXPECT_FALSE(plugins[at].note->hint.empty());
  }
}

TEST_F(OrtPlugins, a_trial_runs_on_it_and_tells_what_it_took) {
  const auto made = workload(plugin_spec());
  const auto prepared = made->prepare();
  ASSERT_TRUE(prepared) << prepared.error().message;
  ASSERT_TRUE(made->step(0)) << made->last_error(0).message;
  const auto ran = made->ran_on();
  EXPECT_EQ(ran.nodes.at("ReluExecutionProvider"), 1);
  EXPECT_EQ(ran.nodes.at("CPUExecutionProvider"), 1);
  EXPECT_EQ(ran.parts, 1);
  EXPECT_NE(std::find(ran.libraries.begin(), ran.libraries.end(), RL_TEST_RELU_PLUGIN), ran.libraries.end());
  auto on_cpu = plugin_spec();
  on_cpu.provider = "cpu";
  on_cpu.plugin.reset();
  const auto reference = workload(on_cpu);
  ASSERT_TRUE(reference->prepare());
  EXPECT_EQ(compare_outputs(reference->outputs().value(), made->outputs().value()).max_abs, 0);
}

TEST_F(OrtPlugins, another_trial_of_the_process_registers_nothing_anew) {
  for (int round = 0; round < 2; ++round) {
    const auto made = workload(plugin_spec());
    const auto prepared = made->prepare();
    ASSERT_TRUE(prepared) << prepared.error().message;
    EXPECT_TRUE(made->step(0));
  }
}

TEST_F(OrtPlugins, options_are_read_back_from_the_session) {
  const auto device = plugin_device(*environment_, *plugin_spec().plugin, test_search());
  ASSERT_TRUE(device) << device.error().message;
  SessionExtras extras;
  extras.plugin = *device;
  const auto settings = SessionSettings::make(
      *environment_, {{"openvino_streams", 2}, {"openvino_reshape_input", "x[1,4]"}}, "openvino-plugin", extras);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->read_back().at("openvino_streams"), "2");
  EXPECT_EQ(settings->read_back().at("openvino_reshape_input"), "x[1,4]");
}

TEST_F(OrtPlugins, a_trial_without_its_library_or_device_fails) {
  auto trial = plugin_spec();
  trial.plugin.reset();
  EXPECT_NE(failure(trial).hint.find("--ep-library"), std::string::npos);
  trial = plugin_spec();
  trial.plugin->device = "NPU";
  EXPECT_EQ(failure(trial).code, ErrorCode::unavailable);
}

TEST_F(OrtPlugins, a_provider_that_took_no_node_fails_the_trial) {
  auto trial = plugin_spec();
  trial.workload.location = fakes::TinyOnnx()
                                .input("x", 1, {"1", "4"})
                                .output("y", 1, {"1", "4"})
                                .node("Neg", {"x"}, {"y"})
                                .write(folder_ / "neg.onnx");
  const auto error = failure(trial);
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.message.find("provider plugin took none of the model's 1 nodes: they run on CPUExecutionProvider"),
            std::string::npos)
      << error.message;
}

TEST(PluginNote, says_whether_the_runtime_sees_a_gpu_and_what_to_use_instead) {
  const TempFolder folder;
  const auto blind = no_device_note("/x/libonnxruntime_providers_webgpu.so", host::SystemFiles(folder.path()));
  EXPECT_NE(fakes::text_of(blind.message).find("neither has one"), std::string::npos) << fakes::text_of(blind.message);
  std::filesystem::create_directories(folder / "sys/class/drm/card0");
  const auto seeing = no_device_note("/x/libonnxruntime_providers_webgpu.so", host::SystemFiles(folder.path()));
  EXPECT_EQ(fakes::text_of(seeing.message),
            "/x/libonnxruntime_providers_webgpu.so offers no device here: it takes GPUs with a "
            "Vulkan driver");
  const auto openvino =
      no_device_note("/x/libonnxruntime_providers_openvino_plugin.so.1.8.1", host::SystemFiles(folder.path()));
  EXPECT_NE(fakes::text_of(openvino.message).find("Intel"), std::string::npos) << fakes::text_of(openvino.message);
  EXPECT_EQ(fakes::text_of(openvino.message).find("/sys/"), std::string::npos) << "it runs on a CPU";
  EXPECT_NE(fakes::text_of(openvino.hint).find("onnxruntime-openvino"), std::string::npos);
}

TEST(PluginNote, a_gpu_of_a_server_is_on_the_bus_alone) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "sys/bus/pci/devices/0000:0f:00.0");
  folder.write("sys/bus/pci/devices/0000:0f:00.0/class", "0x030200\n");
  const auto note = no_device_note("/x/libonnxruntime_providers_nv_tensorrt_rtx.so", host::SystemFiles(folder.path()));
  EXPECT_EQ(fakes::text_of(note.message).find("/sys/class"), std::string::npos) << fakes::text_of(note.message);
  EXPECT_NE(fakes::text_of(note.message).find("8.6, 8.9 and 12.0"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::workload
