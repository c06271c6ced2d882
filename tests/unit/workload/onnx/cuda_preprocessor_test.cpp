// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/cuda_preprocessor.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "unit/gpu/fake_cuda_fixture.hpp"
#include "unit/workload/onnx/fake_preprocess_kernel.hpp"
#include "workload/half.hpp"

namespace ridgeline::workload {
namespace {

using stream::FrameGeometry;
using stream::Image;
using stream::InputType;
using stream::PixelFormat;

Image noise(int width, int height, PixelFormat format, std::uint64_t seed) {
  Image image{width, height, format, {}};
  image.bytes.resize(stream::image_bytes(width, height, format));
  base::Random random(seed);
  for (auto& byte : image.bytes) byte = static_cast<std::uint8_t>(random.next() >> 56U);
  return image;
}

/// The fake driver's GPU memory is the host's, and its kernel the one of the GPU compiled for the CPU.
class CudaPreprocessorTest : public gpu::FakeCudaTest {
 protected:
  CudaPreprocessorTest() {
    call<void (*)(void (*)(const void*, unsigned, unsigned, unsigned))>("fake_cuda_run")(run_preprocess_kernel);
    side_ = GpuSide::open({RL_TEST_FAKE_CUDA}).value();
    kernel_ = PreprocessKernel::load(*side_, kFakePreprocessPtx).value();
    stream_.emplace(gpu::CudaStream::make(side_->driver).value());
  }

  std::vector<float> as_floats(const std::vector<std::byte>& bytes, InputType type) const {
    std::vector<float> out(bytes.size() / stream::value_bytes(type));
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (type == InputType::float32)
        std::memcpy(&out[i], &bytes[4 * i], 4);
      else if (type == InputType::uint8)
        out[i] = static_cast<float>(bytes[i]);
      else
        out[i] = half_to_float(static_cast<std::uint16_t>(static_cast<unsigned>(bytes[2 * i]) |
                                                          static_cast<unsigned>(bytes[2 * i + 1]) << 8U));
    }
    return out;
  }

  /// The largest difference to the CPU's path.
  float difference(const std::vector<Image>& images, const stream::PreprocessOptions& options, InputType type,
                   int model_width, int model_height) {
    const stream::Preprocessor planner(options);
    std::vector<stream::PlannedFrame> frames;
    for (const auto& image : images)
      frames.push_back({&image, planner.plan(image.width, image.height, model_width, model_height).value()});
    const auto bytes = planner.elements(frames.front().geometry) * stream::value_bytes(type) * frames.size();
    std::vector<std::byte> wanted(bytes, std::byte{9});
    std::vector<std::byte> found(bytes, std::byte{7});
    stream::HostPreprocessor host(options, type);
    CudaPreprocessor cuda(*side_, kernel_, options, type, stream_->handle());
    const auto on_host = host.run(frames, wanted.data());
    const auto on_gpu = cuda.run(frames, found.data());
    EXPECT_TRUE(on_host) << on_host.error().message;
    EXPECT_TRUE(on_gpu) << on_gpu.error().message;
    const auto a = as_floats(wanted, type);
    const auto b = as_floats(found, type);
    float most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
  }

  std::unique_ptr<GpuSide> side_;
  std::shared_ptr<const PreprocessKernel> kernel_;
  std::optional<gpu::CudaStream> stream_;
};

constexpr std::array kFormats{PixelFormat::bgr24, PixelFormat::rgb24, PixelFormat::gray8, PixelFormat::nv12};

TEST_F(CudaPreprocessorTest, gives_what_the_cpu_gives) {
  using enum stream::ChannelOrder;
  for (const auto format : kFormats)
    for (const auto channels : {rgb, bgr, gray})
      for (const auto layout : {stream::TensorLayout::nchw, stream::TensorLayout::nhwc})
        for (const auto align : {stream::Align::center, stream::Align::top_left})
          for (const auto& [width, height] : {std::pair{64, 48}, std::pair{30, 70}, std::pair{224, 32}}) {
            stream::PreprocessOptions options;
            options.channels = channels;
            options.layout = layout;
            options.align = align;
            options.mean = {0.485F, 0.456F, 0.406F};
            options.deviation = {0.229F, 0.224F, 0.225F};
            const std::vector<Image> images{noise(width, height, format, 1), noise(height + 2, width, format, 2)};
            EXPECT_EQ(difference(images, options, InputType::float32, 40, 56), 0)
                << to_string(format) << " " << width << "x" << height;
          }
}

TEST_F(CudaPreprocessorTest, gives_every_bit_of_what_the_cpu_gives_whatever_the_sides) {
  stream::PreprocessOptions options;
  options.mean = {0.485F, 0.456F, 0.406F};
  options.deviation = {0.229F, 0.224F, 0.225F};
  for (const auto format : {PixelFormat::bgr24, PixelFormat::nv12})
    for (const auto& [width, height] : {std::pair{1920, 34}, std::pair{34, 1080}, std::pair{642, 358}})
      for (const auto& [to_width, to_height] : {std::pair{640, 352}, std::pair{1280, 96}, std::pair{333, 777}})
        EXPECT_EQ(difference({noise(width, height, format, 8)}, options, InputType::float32, to_width, to_height), 0)
            << width << "x" << height << " to " << to_width << "x" << to_height;
}

TEST_F(CudaPreprocessorTest, stretches_and_takes_the_size_of_the_frame) {
  stream::PreprocessOptions options;
  options.scale = 0.5;
  for (const auto format : kFormats) {
    const std::vector<Image> images{noise(130, 98, format, 3)};
    EXPECT_EQ(difference(images, options, InputType::float32, -1, -1), 0);
    options.scale = 1;
    options.stride = 2;
    EXPECT_EQ(difference(images, options, InputType::float32, -1, -1), 0) << "no resize";
  }
}

TEST_F(CudaPreprocessorTest, detail_is_taken_from_a_frame_in_bytes) {
  stream::PreprocessOptions options;
  options.scale = 0.5;
  for (const auto format : kFormats)
    EXPECT_EQ(difference({noise(131 & ~1, 98, format, 4)}, options, InputType::float32, 64, 64), 0);
}

TEST_F(CudaPreprocessorTest, writes_halves_and_bytes) {
  const std::vector<Image> images{noise(64, 48, PixelFormat::nv12, 5), noise(48, 48, PixelFormat::bgr24, 6)};
  stream::PreprocessOptions options;
  EXPECT_EQ(difference(images, options, InputType::float16, 32, 32), 0);
  EXPECT_EQ(difference(images, options, InputType::uint8, 32, 32), 0);
  options.pixel_scale = 1;  // bytes are not scaled
  EXPECT_EQ(difference(images, options, InputType::uint8, 32, 32), 0);
}

TEST_F(CudaPreprocessorTest, a_large_batch_is_several_launches) {
  std::vector<Image> images;
  for (std::uint64_t i = 0; i < 2 * gpu::kernel::kFramesPerLaunch + 3; ++i)
    images.push_back(noise(8, 6, PixelFormat::bgr24, i));
  const int before = number("fake_cuda_launches");
  EXPECT_LT(difference(images, {}, InputType::float32, 8, 8), 1e-5F);
  EXPECT_EQ(number("fake_cuda_launches") - before, 3);
}

TEST_F(CudaPreprocessorTest, frames_are_read_where_they_lie) {
  const auto plain = noise(32, 32, PixelFormat::bgr24, 8);
  auto image = noise(32, 32, PixelFormat::bgr24, 8);
  const stream::PreprocessOptions options;
  const auto geometry = stream::Preprocessor(options).plan(32, 32, 32, 32).value();
  std::vector<float> wanted(3 * 32 * 32);
  std::vector<float> found(wanted.size());
  stream::HostPreprocessor host(options, InputType::float32);
  const std::array<stream::PlannedFrame, 1> plain_frame{{{&plain, geometry}}};
  ASSERT_TRUE(host.run(plain_frame, wanted.data()));
  for (const auto place : {stream::ImagePlace::page_locked, stream::ImagePlace::device}) {
    std::vector<std::uint8_t> memory(plain.bytes.begin(), plain.bytes.end());
    image.bytes =
        stream::ImageBytes(std::shared_ptr<std::uint8_t>(memory.data(), [](std::uint8_t*) {}), memory.size(), place);
    const std::array<stream::PlannedFrame, 1> frame{{{&image, geometry}}};
    CudaPreprocessor cuda(*side_, kernel_, options, InputType::float32, stream_->handle());
    ASSERT_TRUE(cuda.run(frame, found.data()));
    EXPECT_EQ(found, wanted);
    if (place == stream::ImagePlace::device) {
      const auto refused = host.run(frame, found.data());
      ASSERT_FALSE(refused);
      EXPECT_NE(refused.error().message.find("memory of a device"), std::string::npos);
    }
  }
}

TEST_F(CudaPreprocessorTest, says_what_the_driver_refuses_and_gives_everything_back) {
  const int before = live();
  {
    CudaPreprocessor cuda(*side_, kernel_, {}, InputType::float32, stream_->handle());
    ASSERT_TRUE(cuda.reserve(1000));
    set("fake_cuda_fail", 2);
    const auto full = cuda.reserve(2000);
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, base::ErrorCode::out_of_memory);
    set("fake_cuda_fail", 0);
    const auto image = noise(8, 8, PixelFormat::bgr24, 1);
    const std::array<stream::PlannedFrame, 1> frame{
        {{&image, stream::Preprocessor(stream::PreprocessOptions{}).plan(8, 8, 8, 8).value()}}};
    std::vector<float> out(3 * 8 * 8);
    set("fake_cuda_fail_launch", 700);
    const auto failed = cuda.run(frame, out.data());
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("preprocessing frames on the GPU"), std::string::npos);
    set("fake_cuda_fail_launch", 0);
    EXPECT_TRUE(cuda.run(frame, out.data()));
  }
  EXPECT_EQ(live(), before);
  const auto none = PreprocessKernel::load(*side_, "");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::ErrorCode::unsupported);
}

}  // namespace
}  // namespace ridgeline::workload
