// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arithmetic of preprocessing on a GPU. NVRTC compiles it for the device, without any header of the standard
// library, and the C++ compiler for the tests, which compare it with stream::Preprocessor.
#ifdef __CUDACC_RTC__
#define RL_KERNEL __device__ __forceinline__
#else
#include "base/half_float.hpp"
#define RL_KERNEL inline
#endif

namespace ridgeline::gpu::kernel {

/// Numbered as stream::PixelFormat.
enum : int { kBgr24, kRgb24, kGray8, kNv12 };

enum : int { kFloat32, kFloat16, kUint8 };  ///< types of an input

/// A frame in GPU memory and its place in the input.
struct FramePlan {
  unsigned long long pixels = 0;  ///< address; rows from the top without padding
  int width = 0;
  int height = 0;
  int format = kBgr24;
  int detail_width = 0;  ///< the frame is brought to that size first, in bytes; 0: it is not
  int detail_height = 0;
  int content_width = 0;  ///< of the frame in the input, from `left`, `top` on
  int content_height = 0;
  int left = 0;
  int top = 0;
};

/// What the frames of a batch have in common.
struct InputPlan {
  unsigned long long out = 0;  ///< address of the first frame's values
  int width = 0;
  int height = 0;
  int channels = 3;     ///< 3, or 1: gray
  int interleaved = 0;  ///< channels last
  int bgr = 0;          ///< the model's channels are blue, green, red
  int type = kFloat32;
  int border = 0;  ///< 0 to 255
  float gain[3] = {1, 1, 1};
  float bias[3] = {0, 0, 0};
};

/// The kernel's argument: frames of one launch, at most as many as fit into the 4 KiB that all GPUs take.
inline constexpr int kFramesPerLaunch = 64;
struct Job {
  InputPlan input;
  FramePlan frames[kFramesPerLaunch];
};
static_assert(sizeof(Job) <= 4096);

/// Between the pixels `first` and `second` of a row or column.
struct Place {
  int first;
  int second;
  float weight;  ///< of the second
};

/// Where pixel `at` of `target` lies among `source` pixels, by their centres: ((2 at + 1) source - target) / (2
/// target). Sides of up to 32768 keep it below 2^31.
RL_KERNEL Place place(int at, int source, int target) {
  const int numerator = (2 * at + 1) * source - target;
  if (numerator <= 0) return {0, 0, 0.0F};
  const int first = numerator / (2 * target);
  if (first >= source - 1) return {source - 1, source - 1, 0.0F};
  return {first, first + 1, static_cast<float>(numerator % (2 * target)) / static_cast<float>(2 * target)};
}

RL_KERNEL float clamp_byte(int value) { return static_cast<float>(value < 0 ? 0 : value > 255 ? 255 : value); }

/// A pixel as the frame has it, in `out` as many values as it has; NV12 as red, green, blue (BT.601 of limited range
/// with the constants of OpenCV).
RL_KERNEL void frame_pixel(const FramePlan& frame, int x, int y, float* out) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(frame.pixels);
  const auto at = static_cast<long long>(y) * frame.width + x;
  if (frame.format == kNv12) {
    constexpr int kBits = 20;
    constexpr int kHalf = 1 << (kBits - 1);
    const auto* chroma = bytes + static_cast<long long>(frame.height) * frame.width +
                         static_cast<long long>(y / 2) * frame.width + (x & ~1);
    const int u = chroma[0] - 128;
    const int v = chroma[1] - 128;
    const int above = bytes[at] - 16;
    const int level = (above > 0 ? above : 0) * 1220542 + kHalf;
    out[0] = clamp_byte((level + 1673527 * v) >> kBits);
    out[1] = clamp_byte((level - 852492 * v - 409993 * u) >> kBits);
    out[2] = clamp_byte((level + 2116026 * u) >> kBits);
  } else if (frame.format == kGray8) {
    out[0] = bytes[at];
  } else {
    for (int i = 0; i < 3; ++i) out[i] = bytes[3 * at + i];
  }
}

/// Rows first, then columns.
RL_KERNEL void blend(const float corners[4][3], int components, float down, float right, float* out) {
  for (int i = 0; i < components; ++i) {
    const float left_value = corners[0][i] + (corners[2][i] - corners[0][i]) * down;
    const float right_value = corners[1][i] + (corners[3][i] - corners[1][i]) * down;
    out[i] = left_value + (right_value - left_value) * right;
  }
}

RL_KERNEL int components_of(const FramePlan& frame) { return frame.format == kGray8 ? 1 : 3; }

/// A pixel of what is resized into the input: the frame, or the frame with less detail.
RL_KERNEL void detail_pixel(const FramePlan& frame, int x, int y, float* out) {
  if (frame.detail_width == 0) return frame_pixel(frame, x, y, out);
  const Place column = place(x, frame.width, frame.detail_width);
  const Place row = place(y, frame.height, frame.detail_height);
  float corners[4][3];
  frame_pixel(frame, column.first, row.first, corners[0]);
  frame_pixel(frame, column.second, row.first, corners[1]);
  frame_pixel(frame, column.first, row.second, corners[2]);
  frame_pixel(frame, column.second, row.second, corners[3]);
  blend(corners, components_of(frame), row.weight, column.weight, out);
  for (int i = 0; i < components_of(frame); ++i) out[i] = static_cast<float>(static_cast<int>(out[i] + 0.5F));
}

/// A pixel of the resized frame.
RL_KERNEL void content_pixel(const FramePlan& frame, int x, int y, float* out) {
  const bool has_detail = frame.detail_width > 0;
  const Place column = place(x, has_detail ? frame.detail_width : frame.width, frame.content_width);
  const Place row = place(y, has_detail ? frame.detail_height : frame.height, frame.content_height);
  float corners[4][3];
  detail_pixel(frame, column.first, row.first, corners[0]);
  detail_pixel(frame, column.second, row.first, corners[1]);
  detail_pixel(frame, column.first, row.second, corners[2]);
  detail_pixel(frame, column.second, row.second, corners[3]);
  blend(corners, components_of(frame), row.weight, column.weight, out);
}

/// Bits of the nearest IEEE 754 half, ties to even.
RL_KERNEL unsigned short half_bits(float value) {
#ifdef __CUDACC_RTC__
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  return base::to_half(value);
#endif
}

RL_KERNEL void store(const InputPlan& input, long long at, float value) {
  if (input.type == kFloat32)
    reinterpret_cast<float*>(input.out)[at] = value;
  else if (input.type == kFloat16)
    reinterpret_cast<unsigned short*>(input.out)[at] = half_bits(value);
  else
    reinterpret_cast<unsigned char*>(input.out)[at] = static_cast<unsigned char>(static_cast<int>(value + 0.5F));
}

/// Channel `c` of the input's pixel `x`, `y`.
RL_KERNEL void store_value(const InputPlan& input, int number, int x, int y, int c, float value) {
  const auto pixels = static_cast<long long>(input.width) * input.height;
  const auto pixel = static_cast<long long>(y) * input.width + x;
  const auto begin = pixels * input.channels * number;
  store(input, begin + (input.interleaved != 0 ? pixel * input.channels + c : c * pixels + pixel), value);
}

/// Writes all channels of the input's pixel `x`, `y` of the batch's frame `number`.
RL_KERNEL void write_pixel(const InputPlan& input, const FramePlan& frame, int number, int x, int y) {
  const int column = x - frame.left;
  const int row = y - frame.top;
  const bool is_border = column < 0 || column >= frame.content_width || row < 0 || row >= frame.content_height;
  float values[3];
  if (is_border) {
    for (float& value : values) value = static_cast<float>(input.border);
  } else {
    content_pixel(frame, column, row, values);
    const bool is_bgr = frame.format == kBgr24;
    if (frame.format == kGray8) {
      values[1] = values[2] = values[0];
    } else if (input.channels == 1) {
      // In the order of stream::Preprocessor, so that both give the same bits.
      const float first = (is_bgr ? 0.114F : 0.299F) * input.gain[0];
      const float third = (is_bgr ? 0.299F : 0.114F) * input.gain[0];
      const float level = values[0] * first + values[1] * (0.587F * input.gain[0]) + values[2] * third;
      return store_value(input, number, x, y, 0, level + input.bias[0]);
    } else if (is_bgr != (input.bgr != 0)) {
      const float first = values[0];
      values[0] = values[2];
      values[2] = first;
    }
  }
  for (int c = 0; c < 3; ++c)  // a fixed number, so that values stay in registers
    if (c < input.channels) store_value(input, number, x, y, c, values[c] * input.gain[c] + input.bias[c]);
}

}  // namespace ridgeline::gpu::kernel
