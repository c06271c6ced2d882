// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/checks.hpp"
#include "healthy_facts.hpp"

namespace ridgeline::doctor {
namespace {

Check see(const Facts& facts, const std::string& id) { return find_check(check_libraries(facts), "libraries." + id); }

TEST(LibraryChecks, everything_found_is_ok_with_version_and_path) {
  for (const auto& check : check_libraries(healthy_facts()))
    EXPECT_EQ(check.status, CheckStatus::ok) << check.id << ": " << check.evidence;
  EXPECT_TRUE(contains(see(healthy_facts(), "onnxruntime").evidence, "1.29.0 (CUDA, CPU); /ort/libonnxruntime.so"));
  EXPECT_TRUE(contains(see(healthy_facts(), "cudnn").evidence, "/cuda/libcudnn.so.9 (9.19.0)"));
}

TEST(LibraryChecks, no_onnx_runtime_fails_with_the_script_that_fetches_it) {
  auto facts = cpu_facts();
  facts.runtime.identity.reset();
  facts.runtime.error =
      "no ONNX Runtime library found; run scripts/fetch_onnxruntime.sh or give --ort-library FILE; looked in: here";
  EXPECT_EQ(see(facts, "onnxruntime").status, CheckStatus::fail);
  EXPECT_EQ(see(facts, "onnxruntime").commands.front(), "scripts/fetch_onnxruntime.sh");
  EXPECT_EQ(see(facts, "cuda_provider").status, CheckStatus::skipped);
  facts.runtime.error =
      "loading the runtime of \"onnx\": the worker died of SIGSEGV (Segmentation fault) in phase load_runtime";
  EXPECT_TRUE(contains(see(facts, "onnxruntime").evidence, "SIGSEGV"));
}

TEST(LibraryChecks, a_cpu_build_is_a_warning_only_beside_a_gpu) {
  EXPECT_EQ(see(cpu_facts(), "cuda_provider").status, CheckStatus::skipped);
  auto facts = healthy_facts();
  facts.runtime.identity->providers = {"CPUExecutionProvider"};
  EXPECT_EQ(see(facts, "cuda_provider").status, CheckStatus::warn);
  EXPECT_EQ(see(facts, "cuda_provider").commands.front(), "scripts/fetch_onnxruntime.sh --gpu");
}

TEST(LibraryChecks, the_first_missing_library_is_named_without_the_places_looked_in) {
  auto facts = healthy_facts();
  facts.runtime.identity->provider_notes["cuda"] =
      "libcudnn.so.9 (needed by libonnxruntime_providers_cuda.so) is not found; looked in: a; b; run pip install "
      "nvidia-cudnn-cu13, or put its folder on LD_LIBRARY_PATH";
  facts.runtime.identity->loaded_libraries.pop_back();
  const auto check = see(facts, "cuda_provider");
  EXPECT_EQ(check.status, CheckStatus::fail);
  EXPECT_EQ(check.evidence, "libcudnn.so.9 (needed by libonnxruntime_providers_cuda.so) is not found");
  EXPECT_EQ(check.commands, std::vector<std::string>{"pip install nvidia-cudnn-cu13"});
  EXPECT_EQ(see(facts, "cudnn").status, CheckStatus::fail);
  EXPECT_EQ(see(facts, "cublas").status, CheckStatus::ok);
}

TEST(LibraryChecks, optional_libraries_that_are_absent_say_what_is_lost) {
  const auto check = see(cpu_facts(), "cupti");
  EXPECT_EQ(check.status, CheckStatus::skipped);
  EXPECT_TRUE(contains(check.evidence, "lost: measured kernel times"));
}

TEST(LibraryChecks, an_optional_library_that_does_not_load_names_the_first_missing_thing) {
  auto facts = healthy_facts();
  facts.libraries[1].load_error = "/cuda/libcupti.so.13: undefined symbol: cuGraphNew, version libcuda.so.1";
  EXPECT_EQ(see(facts, "cupti").status, CheckStatus::warn);
  EXPECT_TRUE(contains(see(facts, "cupti").evidence, "symbol cuGraphNew is missing"));
  facts = cpu_facts();
  facts.libraries[0] = {"TensorRT", "/trt/libnvinfer.so.10", "",
                        "libcuda.so.1: cannot open shared object file: No such file or directory", ""};
  EXPECT_EQ(see(facts, "tensorrt").status, CheckStatus::skipped) << "without a GPU the driver's library is no loss";
}

}  // namespace
}  // namespace ridgeline::doctor
