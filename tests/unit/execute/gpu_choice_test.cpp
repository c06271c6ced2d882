// SPDX-License-Identifier: Apache-2.0
#include "execute/gpu_choice.hpp"
#include "fakes/words.hpp"
#include "schema/error_message.hpp"

#include <gtest/gtest.h>

namespace ridgeline::execute {
namespace {

schema::GpuDescription gpu(int index, std::string name, std::string uuid) {
  schema::GpuDescription gpu;
  gpu.index = index;
  gpu.name = std::move(name);
  gpu.uuid = std::move(uuid);
  return gpu;
}

schema::Environment mixed_box() {
  schema::Environment environment;
  environment.gpus = {gpu(0, "NVIDIA L4", "GPU-aa"), gpu(1, "NVIDIA H200", "GPU-b1"), gpu(2, "NVIDIA L4", "GPU-c0"),
                      gpu(3, "NVIDIA H200", "GPU-b2")};
  return environment;
}

std::string uuids(const base::Result<std::vector<GpuGroup>>& groups) {
  if (!groups) return base::error_line(groups.error());
  std::string text;
  for (const auto& group : *groups) {
    for (const auto& one : group) text += one.uuid + " ";
    text += "| ";
  }
  return text;
}

TEST(GpuChoice, the_first_gpu_is_used_unless_told) {
  EXPECT_EQ(uuids(choose_gpus("", mixed_box())), "GPU-aa | ");
  EXPECT_EQ(uuids(choose_gpus("", {})), "");
}

TEST(GpuChoice, gpus_are_grouped_by_model_in_the_order_given) {
  EXPECT_EQ(uuids(choose_gpus("all", mixed_box())), "GPU-aa GPU-c0 | GPU-b1 GPU-b2 | ");
  EXPECT_EQ(uuids(choose_gpus("3, 0,1", mixed_box())), "GPU-b2 GPU-b1 | GPU-aa | ");
  EXPECT_EQ(uuids(choose_gpus("GPU-c", mixed_box())), "GPU-c0 | ");
}

TEST(GpuChoice, like_names_with_another_memory_are_other_models) {
  auto environment = mixed_box();
  environment.gpus[3].memory_bytes = 80;
  EXPECT_EQ(uuids(choose_gpus("1,3", environment)), "GPU-b1 | GPU-b2 | ");
}

TEST(GpuChoice, what_does_not_exist_is_refused_with_the_list) {
  for (const auto* asked : {"4", "-1", "0,x", "1,", "GPU-zz", "1-2"}) {
    const auto groups = choose_gpus(asked, mixed_box());
    ASSERT_FALSE(groups) << asked;
    EXPECT_NE(groups.error().message.find(fmt::format("--devices {}: there is no GPU", asked)), std::string::npos)
        << groups.error().message;
    EXPECT_NE(groups.error().message.find("0 (NVIDIA L4, GPU-aa), 1 (NVIDIA H200, GPU-b1)"), std::string::npos);
  }
  EXPECT_NE(uuids(choose_gpus("1,1", mixed_box())).find("named twice"), std::string::npos);
  EXPECT_NE(uuids(choose_gpus("GPU-b", mixed_box())).find("fits several"), std::string::npos);
}

TEST(GpuChoice, without_a_gpu_the_reason_is_told) {
  schema::Environment none;
  none.gpu_note = fakes::legacy("no driver");
  EXPECT_EQ(uuids(choose_gpus("all", none)),
            "--devices all: no NVIDIA GPU was found: no driver; leave it out to tune the CPU, or see ridgeline doctor");
}

TEST(GpuChoice, numbers_stay_those_of_the_machine_when_some_are_hidden) {
  auto environment = schema::Environment{};
  describe_gpus(environment, {mixed_box().gpus, {}}, "3,GPU-aa");
  EXPECT_EQ(uuids(choose_gpus("", environment)), "GPU-b2 | ");
  EXPECT_EQ(uuids(choose_gpus("0", environment)), "GPU-aa | ");
  const auto hidden = choose_gpus("1", environment);
  ASSERT_FALSE(hidden);
  EXPECT_NE(hidden.error().message.find("3 (NVIDIA H200, GPU-b2), 0 (NVIDIA L4, GPU-aa)"), std::string::npos)
      << hidden.error().message;
  EXPECT_TRUE(environment.gpu_note.is("schema.gpus_hidden"));
}

TEST(GpuChoice, the_kernel_drivers_list_stands_in_for_the_management_library) {
  auto environment = mixed_box();
  describe_gpus(environment, {{}, fakes::legacy("no library")}, std::nullopt);
  EXPECT_EQ(environment.gpus.size(), 4U);
  environment.gpus.clear();
  describe_gpus(environment, {{}, fakes::legacy("no library")}, std::nullopt);
  EXPECT_EQ(schema::own_text(environment.gpu_note), "no library");
}

TEST(GpuChoice, a_worker_sees_its_gpu_only) {
  const auto environment = gpu_environment(gpu(1, "NVIDIA H200", "GPU-b1"));
  EXPECT_EQ(environment, (std::vector<std::pair<std::string, std::string>>{{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                                                                           {"CUDA_VISIBLE_DEVICES", "GPU-b1"}}));
}

TEST(GpuChoice, mig_instances_are_left_to_cuda) {
  auto environment = mixed_box();
  environment.gpus[0].mig = true;
  EXPECT_TRUE(gpu_environment(environment.gpus[0]).empty());
  describe_gpus(environment, {environment.gpus, {}}, "MIG-1234");
  EXPECT_EQ(environment.gpus.size(), 4U);
}

}  // namespace
}  // namespace ridgeline::execute
