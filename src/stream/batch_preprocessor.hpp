// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "stream/image.hpp"
#include "stream/preprocess_options.hpp"
#include "stream/preprocessor.hpp"

namespace ridgeline::stream {

/// Types of the values of a model's input.
enum class InputType : std::uint8_t { float32, float16, uint8 };

/// Bytes of a value.
[[nodiscard]] constexpr std::size_t value_bytes(InputType type) noexcept {
  return type == InputType::float32 ? 4 : type == InputType::float16 ? 2 : 1;
}

/// A frame and how it lies in the input.
struct PlannedFrame {
  const Image* image = nullptr;
  FrameGeometry geometry;
};

/// Turns the frames of a batch into a model's input; on the CPU, or on a device. One thread at a time.
class BatchPreprocessor {
 public:
  virtual ~BatchPreprocessor() = default;
  /// Writes one frame behind another to `input`, which has room for them, in the implementation's memory. Their inputs
  /// are of one size. Errors: invalid_argument (check_planned), those of a device.
  [[nodiscard]] virtual base::Result<void> run(std::span<const PlannedFrame> frames, void* input) = 0;
};

/// On the calling thread, into memory of the host.
class HostPreprocessor final : public BatchPreprocessor {
 public:
  HostPreprocessor(const PreprocessOptions& options, InputType type) : preprocessor_(options), type_(type) {}
  [[nodiscard]] base::Result<void> run(std::span<const PlannedFrame> frames, void* input) override;

 private:
  Preprocessor preprocessor_;
  InputType type_;
};

}  // namespace ridgeline::stream
