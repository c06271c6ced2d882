// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda_driver.hpp"

#include <cstring>

#include "fake_cuda_fixture.hpp"

namespace ridgeline::gpu {
namespace {

using CudaDriverTest = FakeCudaTest;

TEST_F(CudaDriverTest, tells_its_version_devices_and_memory) {
  const auto driver = load();
  EXPECT_EQ(driver->version(), 13000);
  EXPECT_EQ(driver->device_count().value(), 2);
  const auto context = PrimaryContext::retain(driver, 0);
  ASSERT_TRUE(context) << context.error().message;
  ASSERT_TRUE(context->make_current());
  const auto memory = driver->memory_info();
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->free_bytes, 7000);
  EXPECT_EQ(memory->total_bytes, 8000);
}

TEST_F(CudaDriverTest, copies_there_and_back_on_a_stream) {
  const auto driver = load();
  const int before = live();
  {
    const auto stream = CudaStream::make(driver);
    auto from = PinnedBuffer::make(driver, 8);
    const auto on_gpu = DeviceBuffer::make(driver, 8);
    auto to = PinnedBuffer::make(driver, 8);
    ASSERT_TRUE(stream && from && on_gpu && to);
    EXPECT_EQ(live(), before + 4);
    std::memcpy(from->data(), "ridgelin", 8);
    EXPECT_EQ(driver->copy_to_device_async(on_gpu->address(), from->data(), 8, stream->handle()), kCudaSuccess);
    EXPECT_EQ(driver->copy_to_host_async(to->data(), on_gpu->address(), 8, stream->handle()), kCudaSuccess);
    EXPECT_EQ(stream->synchronize(), kCudaSuccess);
    EXPECT_EQ(std::memcmp(to->data(), "ridgelin", 8), 0);
    char plain[8] = {};
    EXPECT_EQ(driver->copy_to_host(plain, on_gpu->address(), 8), kCudaSuccess);
    EXPECT_EQ(std::memcmp(plain, "ridgelin", 8), 0);
    const auto moved = std::move(*from);
    EXPECT_EQ(moved.size(), 8U);
    EXPECT_EQ(live(), before + 4);
  }
  EXPECT_EQ(live(), before);
}

TEST_F(CudaDriverTest, takes_the_padding_out_of_rows) {
  const auto driver = load();
  const auto padded = DeviceBuffer::make(driver, 16);
  const auto dense = DeviceBuffer::make(driver, 8);
  ASSERT_TRUE(padded && dense);
  EXPECT_EQ(driver->copy_to_device(padded->address(), "ridg****elin****", 16), kCudaSuccess);
  EXPECT_EQ(driver->copy_rows_on_device_async(dense->address(), padded->address(), 8, 4, 2, kLegacyStream),
            kCudaSuccess);
  char plain[8] = {};
  EXPECT_EQ(driver->copy_to_host(plain, dense->address(), 8), kCudaSuccess);
  EXPECT_EQ(std::memcmp(plain, "ridgelin", 8), 0);
}

TEST_F(CudaDriverTest, measures_between_events) {
  const auto driver = load();
  const auto stream = CudaStream::make(driver);
  const auto start = CudaEvent::make(driver);
  const auto end = CudaEvent::make(driver);
  ASSERT_TRUE(stream && start && end);
  EXPECT_EQ(start->record(stream->handle()), kCudaSuccess);
  EXPECT_EQ(end->record(stream->handle()), kCudaSuccess);
  EXPECT_EQ(end->synchronize(), kCudaSuccess);
  EXPECT_DOUBLE_EQ(end->elapsed_ms(*start).value(), 1.5);
}

TEST_F(CudaDriverTest, names_the_size_that_did_not_fit) {
  const auto driver = load();
  set("fake_cuda_fail", 2);
  const int before = live();
  const auto buffer = DeviceBuffer::make(driver, 4096);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().code, base::ErrorCode::out_of_memory);
  EXPECT_EQ(buffer.error().message, "allocating 4096 bytes on the GPU: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
  EXPECT_EQ(buffer.error().number, 4096);
  EXPECT_EQ(PinnedBuffer::make(driver, 4096).error().code, base::ErrorCode::out_of_memory);
  EXPECT_TRUE(DeviceBuffer::make(driver, 0)) << "nothing needs no memory";
  EXPECT_EQ(live(), before);
}

TEST_F(CudaDriverTest, is_unavailable_without_a_gpu_or_a_library) {
  call<void (*)(int)>("fake_cuda_init")(100);
  const auto driver = CudaDriver::load({RL_TEST_FAKE_CUDA});
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, base::ErrorCode::unavailable);
  EXPECT_NE(driver.error().message.find("no CUDA-capable device"), std::string::npos) << driver.error().message;
  EXPECT_EQ(CudaDriver::load({"/nowhere/libcuda.so.1"}).error().code, base::ErrorCode::unavailable);
  const auto other = CudaDriver::load({"libm.so.6"});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("has no cuInit"), std::string::npos) << other.error().message;
}

}  // namespace
}  // namespace ridgeline::gpu
