// SPDX-License-Identifier: Apache-2.0
#include "execute/provider_choice.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "schema/error_message.hpp"
#include "schema/messages.hpp"

namespace ridgeline::execute {
namespace {

constexpr const char* kNoDriver =
    "cannot load any of 1 candidate libraries: libnvidia-ml.so.1: cannot open shared object file: No such file or "
    "directory";

schema::Message said(const char* text) { return schema::messages::foreign(text); }

const schema::ProviderNote kNoCudnn{
    said("libcudnn.so.9 is not found"), said("/a"), said("install it"), {"libcudnn.so.9"}};

schema::RuntimeIdentity gpu_runtime() {
  schema::RuntimeIdentity runtime;
  runtime.name = "onnxruntime";
  runtime.version = "1.29.0";
  runtime.library_path = "/x/libonnxruntime.so";
  runtime.providers = {"CUDAExecutionProvider", "CPUExecutionProvider"};
  return runtime;
}

schema::Environment one_gpu() {
  schema::Environment environment;
  environment.gpus.emplace_back().name = "NVIDIA H200";
  return environment;
}

TEST(ProviderChoice, auto_takes_the_gpu_where_its_provider_loads) {
  auto runtime = gpu_runtime();
  EXPECT_EQ(resolve_provider("auto", runtime, one_gpu()).value(), "cuda");
  EXPECT_TRUE(idle_gpu_note("cuda", runtime, one_gpu()).empty());
  runtime.provider_notes["cuda"] = kNoCudnn;
  EXPECT_EQ(resolve_provider("auto", runtime, one_gpu()).value(), "cpu");
  EXPECT_EQ(fakes::text_of(idle_gpu_note("cpu", runtime, one_gpu())),
            "NVIDIA H200 is present but not used: libcudnn.so.9 is not found; looked in: /a; install it");
  const auto refused = resolve_provider("cuda", runtime, one_gpu());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "provider \"cuda\" cannot be used: libcudnn.so.9 is not found; looked in: /a");
  EXPECT_EQ(refused.error().hint, "install it");
}

TEST(ProviderChoice, tensorrt_needs_what_the_cuda_provider_needs) {
  auto runtime = gpu_runtime();
  runtime.providers.insert(runtime.providers.begin(), "TensorrtExecutionProvider");
  EXPECT_EQ(resolve_provider("tensorrt", runtime, one_gpu()).value(), "tensorrt");
  runtime.provider_notes["cuda"] = kNoCudnn;
  const auto refused = resolve_provider("tensorrt", runtime, one_gpu());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::unavailable);
  EXPECT_EQ(refused.error().message,
            "provider \"tensorrt\" cannot be used: its sessions load the CUDA provider too, and libcudnn.so.9 is not "
            "found; looked in: /a");
  EXPECT_EQ(refused.error().hint, "install it");
  runtime.provider_notes["tensorrt"].message = said("libnvinfer.so.10 is not found");
  EXPECT_EQ(resolve_provider("tensorrt", runtime, one_gpu()).error().message,
            "provider \"tensorrt\" cannot be used: libnvinfer.so.10 is not found");
}

TEST(ProviderChoice, a_machine_that_never_had_a_gpu_is_not_told_of_one) {
  schema::Environment environment;
  environment.gpu_note = schema::messages::no_gpu(kNoDriver);
  auto runtime = gpu_runtime();
  runtime.provider_notes["cuda"] = {
      said("libcuda.so.1 (needed by it) is not found"), {}, {}, {"libcuda.so.1", "libcublas.so.13"}};
  EXPECT_EQ(resolve_provider("auto", runtime, environment).value(), "cpu");
  EXPECT_TRUE(idle_gpu_note("cpu", runtime, environment).empty());
  runtime.provider_notes["cuda"] = {
      said("provider cuda: its file is missing"), {}, {}, {"libonnxruntime_providers_cuda.so"}};
  EXPECT_TRUE(idle_gpu_note("cpu", runtime, environment).empty());
  runtime.providers = {"CPUExecutionProvider"};
  runtime.provider_notes.clear();
  EXPECT_TRUE(idle_gpu_note("cpu", runtime, environment).empty());
}

TEST(ProviderChoice, one_that_is_made_for_a_gpu_is_told_why_none_is_seen) {
  schema::Environment environment;
  auto runtime = gpu_runtime();
  environment.gpu_note = schema::messages::no_gpu(kNoDriver);
  runtime.provider_notes["cuda"] = {
      said("libcuda.so.1 (needed by it) is not found"), {}, said("install the driver"), {"libcuda.so.1"}};
  EXPECT_EQ(fakes::text_of(idle_gpu_note("cpu", runtime, environment)),
            schema::own_text(environment.gpu_note) + "; the CPU is tuned");
  environment.gpu_note = schema::messages::gpus_hidden({.value = "", .hidden = 2, .gpus = 2});
  runtime.providers = {"CPUExecutionProvider"};
  EXPECT_EQ(fakes::text_of(idle_gpu_note("cpu", runtime, environment)),
            schema::own_text(environment.gpu_note) + "; the CPU is tuned");
  EXPECT_NE(resolve_provider("cuda", runtime, environment).error().message.find("hides 2 of 2 GPUs"),
            std::string::npos);
}

}  // namespace
}  // namespace ridgeline::execute
