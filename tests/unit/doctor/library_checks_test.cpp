// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/checks.hpp"
#include "healthy_facts.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

Check see_library(const Facts& facts, const std::string& id) {
  return find_check(check_libraries(facts), "libraries." + id);
}

TEST(LibraryChecks, everything_found_is_ok_with_version_and_path) {
  for (const auto& check : check_libraries(healthy_facts()))
    EXPECT_EQ(check.status, CheckStatus::ok) << check.id << ": " << text_of(check.evidence);
  EXPECT_TRUE(contains(text_of(see_library(healthy_facts(), "onnxruntime").evidence),
                       "1.29.0 (CUDA, CPU); /ort/libonnxruntime.so"));
  EXPECT_EQ(text_of(see_library(healthy_facts(), "cudnn").evidence), "/cuda/libcudnn.so.9 (9.19.0)");
  EXPECT_EQ(text_of(see_library(healthy_facts(), "cuda_provider").evidence),
            "1.29.0; /ort/libonnxruntime_providers_cuda.so; all its libraries load");
}

TEST(LibraryChecks, no_onnx_runtime_fails_with_the_script_that_fetches_it) {
  auto facts = cpu_facts();
  facts.runtime.identity.reset();
  facts.runtime.error = {base::ErrorCode::not_found, "no ONNX Runtime library found; looked in: here"};
  EXPECT_EQ(see_library(facts, "onnxruntime").status, CheckStatus::fail);
  EXPECT_EQ(see_library(facts, "onnxruntime").commands.front(), "/src/scripts/fetch_onnxruntime.sh");
  EXPECT_EQ(see_library(facts, "cuda_provider").status, CheckStatus::skipped);
  facts.runtime.error = {
      base::ErrorCode::crashed,
      "loading the runtime of \"onnx\": the worker died of SIGSEGV (Segmentation fault) in phase load_runtime"};
  EXPECT_TRUE(contains(text_of(see_library(facts, "onnxruntime").evidence), "SIGSEGV"));
}

schema::Message said(const char* text) { return schema::messages::foreign(text); }

FoundRuntimeFacts found_at(const std::string& path) {
  FoundRuntimeFacts one;
  one.found.library_path = path;
  one.found.place = schema::messages::foreign("the place of " + path);
  auto& identity = one.identity.emplace();
  identity.version = "1.32.0";
  identity.library_path = path;
  identity.providers = {"CPUExecutionProvider"};
  return one;
}

TEST(LibraryChecks, every_runtime_is_listed_and_which_one_tune_takes) {
  auto facts = cpu_facts();
  auto& found = facts.runtime.found;
  found = {found_at("/a"), found_at("/b"), found_at("/c")};
  found[0].identity.reset();
  found[0].error = {base::ErrorCode::crashed, "/a: the worker died of SIGSEGV"};
  found[1].taken = true;
  auto& plugin = found[2].identity->plugins.emplace_back();
  plugin.package = "onnxruntime-ep-webgpu 0.4.0";
  plugin.offers.push_back({"/p", "", "WebGpuExecutionProvider", "0.4.0", "GPU"});
  EXPECT_EQ(text_of(see_library(facts, "onnxruntime").evidence), "1.32.0 (CPU); /b; from the place of /b");
  const auto broken = see_library(facts, "other_runtime.1");
  EXPECT_EQ(broken.status, CheckStatus::warn);
  EXPECT_EQ(text_of(broken.evidence), "/a: the worker died of SIGSEGV; from the place of /a");
  EXPECT_FALSE(broken.fix.empty());
  const auto other = see_library(facts, "other_runtime.2");
  EXPECT_EQ(other.status, CheckStatus::ok);
  EXPECT_EQ(
      text_of(other.evidence),
      "1.32.0 (CPU); /c; from the place of /c; plug-in onnxruntime-ep-webgpu 0.4.0: WebGpuExecutionProvider on GPU");
}

TEST(LibraryChecks, a_plug_in_that_was_named_and_offers_nothing_is_a_warning) {
  auto facts = cpu_facts();
  facts.runtime.found = {found_at("/a")};
  auto& one = facts.runtime.found.front();
  one.taken = true;
  auto& plugin = one.identity->plugins.emplace_back();
  plugin.library_path = "/p.so";
  plugin.package = "onnxruntime-ep-openvino 1.8.1";
  plugin.note = schema::ProviderNote{said("it takes Intel CPUs only"), {}, said("install onnxruntime-openvino"), {}};
  EXPECT_EQ(see_library(facts, "onnxruntime").status, CheckStatus::ok);
  plugin.package.clear();
  const auto check = see_library(facts, "onnxruntime");
  EXPECT_EQ(check.status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(check.evidence), "plug-in /p.so: it takes Intel CPUs only")) << text_of(check.evidence);
  EXPECT_EQ(text_of(check.fix), "install onnxruntime-openvino");
}

TEST(LibraryChecks, telemetry_is_told_where_a_runtime_has_it_and_nothing_turns_it_off) {
  auto facts = cpu_facts();
  facts.runtime.found = {found_at("/a")};
  EXPECT_TRUE(contains(text_of(see_library(facts, "telemetry").evidence), "no runtime here"));
  facts.runtime.found.front().telemetry = true;
  EXPECT_EQ(see_library(facts, "telemetry").status, CheckStatus::ok);
  EXPECT_TRUE(contains(text_of(see_library(facts, "telemetry").evidence),
                       "ONNX Runtime 1.32.0 unless ORT_DISABLE_TELEMETRY=1"));
  facts.runtime.telemetry_chosen = true;
  EXPECT_EQ(text_of(see_library(facts, "telemetry").evidence), "ORT_DISABLE_TELEMETRY is set");
}

TEST(LibraryChecks, a_cpu_build_is_a_warning_only_beside_a_gpu) {
  EXPECT_EQ(see_library(cpu_facts(), "cuda_provider").status, CheckStatus::skipped);
  auto facts = healthy_facts();
  facts.runtime.identity->providers = {"CPUExecutionProvider"};
  EXPECT_EQ(see_library(facts, "cuda_provider").status, CheckStatus::warn);
  EXPECT_EQ(see_library(facts, "cuda_provider").commands.front(), "/src/scripts/fetch_onnxruntime.sh --gpu");
}

TEST(LibraryChecks, a_cuda_provider_that_is_missing_is_fetched_with_the_script_where_it_is) {
  auto facts = healthy_facts();
  facts.runtime.identity->provider_notes["cuda"] = {
      said("provider cuda: its file is missing"), {}, said("fetch it"), {"libonnxruntime_providers_cuda.so"}};
  const auto check = see_library(facts, "cuda_provider");
  EXPECT_EQ(text_of(check.fix).rfind("run /src/scripts/fetch_onnxruntime.sh --gpu, or give", 0), 0U)
      << text_of(check.fix);
  EXPECT_EQ(check.commands, std::vector<std::string>{"/src/scripts/fetch_onnxruntime.sh --gpu"});
}

TEST(LibraryChecks, an_installed_copy_is_not_sent_to_a_script_that_it_does_not_have) {
  auto missing = healthy_facts();
  missing.runtime.identity->provider_notes["cuda"] = {
      said("provider cuda: its file is missing"), {}, said("fetch it"), {"libonnxruntime_providers_cuda.so"}};
  auto without = healthy_facts();
  without.runtime.identity->providers = {"CPUExecutionProvider"};
  for (auto* facts : {&missing, &without}) {
    facts->runtime.fetch_script.clear();
    const auto check = see_library(*facts, "cuda_provider");
    EXPECT_FALSE(contains(text_of(check.fix), "scripts/")) << text_of(check.fix);
    ASSERT_EQ(check.commands.size(), 2U);
    EXPECT_EQ(check.commands[0], "pip install onnxruntime-gpu");
    EXPECT_TRUE(contains(check.commands[1], "export RIDGELINE_ORT_LIBRARY=")) << check.commands[1];
  }
  auto none = cpu_facts();
  none.runtime.fetch_script.clear();
  none.runtime.identity.reset();
  none.runtime.error = {base::ErrorCode::not_found, "no ONNX Runtime library found; looked in: here"};
  EXPECT_FALSE(contains(text_of(see_library(none, "onnxruntime").fix), "scripts/"));
  EXPECT_EQ(see_library(none, "onnxruntime").commands, std::vector<std::string>{"pip install onnxruntime"});
  none.runtime.error = {base::ErrorCode::crashed, "the worker died of SIGSEGV"};
  EXPECT_FALSE(contains(text_of(see_library(none, "onnxruntime").fix), "scripts/"))
      << text_of(see_library(none, "onnxruntime").fix);
}

TEST(LibraryChecks, the_first_missing_library_is_named_without_the_places_looked_in) {
  auto facts = healthy_facts();
  facts.runtime.identity->provider_notes["cuda"] = {
      said("libcudnn.so.9 (needed by libonnxruntime_providers_cuda.so) is not found"),
      said("a; b"),
      said("run pip install nvidia-cudnn-cu13, or put its folder on LD_LIBRARY_PATH"),
      {"libcudnn.so.9"}};
  facts.runtime.identity->loaded_libraries.pop_back();
  facts.libraries.pop_back();
  const auto check = see_library(facts, "cuda_provider");
  EXPECT_EQ(check.status, CheckStatus::fail);
  EXPECT_EQ(text_of(check.evidence), "libcudnn.so.9 (needed by libonnxruntime_providers_cuda.so) is not found");
  EXPECT_EQ(check.commands, std::vector<std::string>{"pip install nvidia-cudnn-cu13"});
  EXPECT_EQ(see_library(facts, "cudnn").status, CheckStatus::fail);
  EXPECT_EQ(see_library(facts, "cublas").status, CheckStatus::ok);
}

/// A GPU and a CUDA provider, but nothing of CUDA loaded or found.
Facts without_cuda(int cuda_major) {
  auto facts = healthy_facts();
  facts.runtime.cuda_major = cuda_major;
  facts.runtime.identity->loaded_libraries.clear();
  facts.runtime.identity->provider_notes["cuda"] = {
      said("libcublas is not found"),
      {},
      {},
      {fmt::format("libcublas.so.{}", cuda_major), fmt::format("libcudart.so.{}", cuda_major), "libcudnn.so.9"}};
  facts.libraries.clear();
  return facts;
}

TEST(LibraryChecks, parts_of_cuda_that_are_nowhere_come_with_the_command_for_the_providers_release) {
  const std::map<std::string, std::array<std::string, 2>> packages{
      {"cuda_runtime", {"nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime"}},
      {"cublas", {"nvidia-cublas-cu12", "nvidia-cublas"}},
      {"cudnn", {"nvidia-cudnn-cu12", "nvidia-cudnn-cu13"}}};
  for (const auto& [id, names] : packages)
    for (const int release : {12, 13}) {
      const auto check = see_library(without_cuda(release), id);
      EXPECT_EQ(check.status, CheckStatus::fail) << id;
      EXPECT_EQ(check.commands, std::vector<std::string>{"pip install " + names[release == 12 ? 0 : 1]});
    }
  EXPECT_TRUE(contains(text_of(see_library(without_cuda(12), "cublas").evidence),
                       "libcublas.so is not found, see CUDA provider"));
}

TEST(LibraryChecks, a_part_of_cuda_that_lies_there_unused_is_ok_with_path_and_version) {
  auto facts = healthy_facts();
  facts.runtime.identity->loaded_libraries.clear();
  EXPECT_EQ(see_library(facts, "cublas").status, CheckStatus::ok);
  EXPECT_EQ(text_of(see_library(facts, "cublas").evidence),
            "/cuda/libcublas.so.13 (13.1.0), not loaded by ONNX Runtime");
  facts.runtime.identity->providers = {"CPUExecutionProvider"};
  EXPECT_EQ(see_library(facts, "cublas").status, CheckStatus::ok) << "a CPU build";
  const auto libraries = facts.libraries;
  facts = cpu_facts();
  EXPECT_EQ(see_library(facts, "cublas").status, CheckStatus::skipped) << "absent";
  facts.libraries = libraries;
  EXPECT_EQ(see_library(facts, "cublas").status, CheckStatus::ok) << "no GPU";
  EXPECT_TRUE(contains(text_of(see_library(facts, "cublas").evidence), "/cuda/libcublas.so.13 (13.1.0)"));
}

TEST(LibraryChecks, a_part_of_cuda_that_loads_but_is_named_by_the_provider_is_a_warning) {
  auto facts = without_cuda(13);
  facts.libraries = healthy_facts().libraries;
  const auto check = see_library(facts, "cudnn");
  EXPECT_EQ(check.status, CheckStatus::warn);
  EXPECT_TRUE(
      contains(text_of(check.evidence), "/cuda/libcudnn.so.9 (9.19.0), not loaded by ONNX Runtime, see CUDA provider"));
  EXPECT_EQ(check.commands.front(), "export LD_LIBRARY_PATH=/cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}");
}

TEST(LibraryChecks, a_part_of_another_cuda_release_does_not_serve_the_provider) {
  auto facts = without_cuda(12);
  facts.libraries = {{"cuBLAS", "/cuda/libcublas.so.13", "13.1.0", "", 12}};
  const auto check = see_library(facts, "cublas");
  EXPECT_EQ(check.status, CheckStatus::fail);
  EXPECT_TRUE(contains(text_of(check.evidence), "/cuda/libcublas.so.13 (13.1.0) is from release 13"))
      << text_of(check.evidence);
  EXPECT_EQ(check.commands.front(), "pip install nvidia-cublas-cu12");
  facts.libraries[0].path = "/cuda/libcublas.so";
  EXPECT_EQ(see_library(facts, "cublas").status, CheckStatus::fail) << "told by its version";
}

TEST(LibraryChecks, a_broken_part_of_cuda_names_the_first_missing_thing) {
  auto facts = without_cuda(13);
  facts.libraries = {{"cuBLAS", "/cuda/libcublas.so.13", "",
                      "libcublasLt.so.13: cannot open shared object file: No such file or directory", 13}};
  EXPECT_EQ(see_library(facts, "cublas").status, CheckStatus::fail);
  EXPECT_TRUE(contains(text_of(see_library(facts, "cublas").evidence),
                       "/cuda/libcublas.so.13: libcublasLt.so.13 is not found"));
  facts.driver = {};
  EXPECT_EQ(see_library(facts, "cublas").status, CheckStatus::skipped) << "nothing asks for it";
  EXPECT_TRUE(contains(text_of(see_library(facts, "cublas").evidence), "libcublasLt.so.13 is not found"));
}

TEST(LibraryChecks, hints_follow_the_cuda_release_of_the_runtime) {
  const auto hint = [](std::optional<int> release, const std::string& id) {
    auto facts = cpu_facts();
    facts.runtime.cuda_major = release;
    return text_of(see_library(facts, id).evidence);
  };
  EXPECT_TRUE(contains(hint(12, "tensorrt"), "pip install --extra-index-url https://pypi.nvidia.com tensorrt-cu12"));
  EXPECT_TRUE(contains(hint(13, "tensorrt"), "pip install --extra-index-url https://pypi.nvidia.com tensorrt-cu13"));
  EXPECT_TRUE(
      contains(hint(std::nullopt, "tensorrt"), "pip install --extra-index-url https://pypi.nvidia.com tensorrt-cu13"));
  EXPECT_TRUE(contains(hint(12, "cupti"), "pip install nvidia-cuda-cupti-cu12"));
}

TEST(LibraryChecks, optional_libraries_that_are_absent_say_what_is_lost) {
  const auto check = see_library(cpu_facts(), "cupti");
  EXPECT_EQ(check.status, CheckStatus::skipped);
  EXPECT_TRUE(contains(text_of(check.evidence), "lost: measured kernel times"));
}

TEST(LibraryChecks, an_optional_library_that_does_not_load_names_the_first_missing_thing) {
  auto facts = healthy_facts();
  facts.libraries[1].load_error = "/cuda/libcupti.so.13: undefined symbol: cuGraphNew, version libcuda.so.1";
  EXPECT_EQ(see_library(facts, "cupti").status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(see_library(facts, "cupti").evidence), "symbol cuGraphNew is missing"));
  facts = cpu_facts();
  facts.libraries[0] = {"TensorRT", "/trt/libnvinfer.so.10", "",
                        "libcuda.so.1: cannot open shared object file: No such file or directory"};
  EXPECT_EQ(see_library(facts, "tensorrt").status, CheckStatus::skipped)
      << "without a GPU the driver's library is no loss";
}

TEST(LibraryChecks, without_ffmpeg_only_videos_are_lost) {
  auto facts = healthy_facts();
  EXPECT_EQ(text_of(see_library(facts, "video").evidence),
            "FFmpeg 5.1.9, GPL version 2 or later; /lib/ridgeline_video.so");
  facts.video = {"/lib/ridgeline_video.so", "", "the video plug-in cannot be loaded (libavutil.so.57)",
                 "apt install x"};
  EXPECT_EQ(see_library(facts, "video").status, CheckStatus::skipped);
  EXPECT_EQ(text_of(see_library(facts, "video").evidence),
            "the video plug-in cannot be loaded (libavutil.so.57); lost: videos, cameras and addresses as sources of "
            "stream; to get them: apt install x");
  facts.video = {"/lib/ridgeline_video.so", "", "opening it took more than 60 s", ""};
  EXPECT_TRUE(text_of(see_library(facts, "video").evidence).ends_with("as sources of stream"));
}

}  // namespace
}  // namespace ridgeline::doctor
