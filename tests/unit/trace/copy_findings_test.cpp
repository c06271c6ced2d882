// SPDX-License-Identifier: Apache-2.0
#include "unit/trace/planted_trace.hpp"

namespace ridgeline::trace {
namespace {

/// Two GEMMs until 50 us, and a copy of 1 MiB from 40 us to 80 us: 10 us of it beside a kernel.
class PlantedCopies : public PlantedTrace {
 protected:
  PlantedCopies() {
    module("Net_0", 0, 20'000);
    busy({"gemm", "gemm"});
    launch_copy(kPageable, 5000, 40'000, 80'000, 1 << 20);
  }
  void rename(std::string_view name) { trace.copies.name.front() = trace.strings.id(name); }
  static constexpr std::string_view kPageable = "Memcpy HtoD (Pageable -> Device)";
};

TEST_F(PlantedCopies, from_pageable_memory_that_nothing_hides) {
  const auto* finding = find("pageable-copy");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "copies between GPU and pageable memory keep the GPU 30.0 µs from computing");
  EXPECT_EQ(finding->saving_ns, 30'000) << "of 40 us, 10 of them beside a kernel";
  EXPECT_EQ(finding->module, "Net_0");
  EXPECT_EQ(finding->evidence, (Evidence{"40.0 µs in Net_0", "1 x Memcpy HtoD (Pageable -> Device): 40.0 µs",
                                         "1.00 MiB in 40.0 µs, 26.2 GB/s"}));
  EXPECT_EQ(finding->computed,
            "at most: the time in which such a copy ran but no kernel, because it can overlap with kernels");
  expect_code(*finding, {"pin_memory=True", "non_blocking=True"});
}

TEST_F(PlantedCopies, from_pinned_memory_that_nothing_hides) {
  rename("Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(find("pageable-copy"), nullptr);
  const auto* finding = find("exposed-copy");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 30'000);
  EXPECT_EQ(finding->module, "Net_0");
  EXPECT_EQ(finding->evidence[1], "1 x Memcpy HtoD (Pinned -> Device): 40.0 µs");
  expect_code(*finding, {"torch.cuda.stream"});
  EXPECT_EQ(finding->code.find("io_binding"), std::string::npos) << "ONNX Runtime did not run";
}

TEST_F(PlantedCopies, of_gpus_that_work_at_the_same_time_count_once) {
  for (device = 1; device < 4; ++device) {
    launch("gemm", 6000, 10'000, 50'000);
    launch_copy(kPageable, 5000, 40'000, 90'000, 1 << 20);
  }
  const auto* finding = find("pageable-copy");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "copies between GPU and pageable memory keep the GPU 40.0 µs from computing");
  EXPECT_EQ(finding->saving_ns, 40'000);
  EXPECT_LE(finding->saving_share, 1);
  EXPECT_EQ(finding->evidence[2],
            "the saving is that of one GPU, the one with the largest, as the GPUs work at the same time");
}

TEST_F(PlantedCopies, on_the_gpu_or_beside_kernels_cost_nothing) {
  rename("Memcpy DtoD (Device -> Device)");
  EXPECT_TRUE(findings().empty());
  rename(kPageable);
  kernel("gemm", 50'000, 80'000, 0, 9);
  EXPECT_EQ(find("pageable-copy"), nullptr);
}

}  // namespace
}  // namespace ridgeline::trace
