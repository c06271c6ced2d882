// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <numeric>

#include <gtest/gtest.h>

#include "unit/gpu/fake_cuda_fixture.hpp"
#include "workload/onnx/device_transfer.hpp"

namespace ridgeline::workload {
namespace {

using CudaTransferTest = gpu::FakeCudaTest;

TEST_F(CudaTransferTest, copies_there_and_back_and_gives_everything_back) {
  const int before = live();
  {
    const auto driver = load();
    const GpuSide side{driver, gpu::PrimaryContext::retain(driver, 0).value()};
    const auto transfer = make_cuda_transfer(side);
    ASSERT_TRUE(transfer) << transfer.error().message;
    ASSERT_TRUE((*transfer)->enter());
    std::array<int, 100> numbers{};
    std::iota(numbers.begin(), numbers.end(), 1);
    const auto host = (*transfer)->allocate_host(sizeof numbers);
    const auto device = (*transfer)->allocate_device(sizeof numbers);
    ASSERT_TRUE(host && device);
    ASSERT_TRUE((*transfer)->to_device(device->get(), numbers.data(), sizeof numbers));
    ASSERT_TRUE((*transfer)->to_host(host->get(), device->get(), sizeof numbers));
    EXPECT_EQ(std::memcmp(host->get(), numbers.data(), sizeof numbers), 0);
    EXPECT_EQ((*transfer)->place(), MemoryPlace::device);
  }
  EXPECT_EQ(live(), before);
}

}  // namespace
}  // namespace ridgeline::workload
