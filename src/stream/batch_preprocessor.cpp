// SPDX-License-Identifier: Apache-2.0
#include "stream/batch_preprocessor.hpp"

namespace ridgeline::stream {

base::Result<void> HostPreprocessor::run(std::span<const PlannedFrame> frames, void* input) {
  auto* begin = static_cast<std::byte*>(input);
  for (const auto& [image, geometry] : frames) {
    const auto elements = preprocessor_.elements(geometry);
    switch (type_) {
      case InputType::uint8:
        RL_TRY(preprocessor_.run_bytes(*image, geometry, {reinterpret_cast<std::uint8_t*>(begin), elements}));
        break;
      case InputType::float16:
        RL_TRY(preprocessor_.run_half(*image, geometry, {reinterpret_cast<std::uint16_t*>(begin), elements}));
        break;
      case InputType::float32:
        RL_TRY(preprocessor_.run(*image, geometry, {reinterpret_cast<float*>(begin), elements}));
        break;
    }
    begin += elements * value_bytes(type_);
  }
  return {};
}

}  // namespace ridgeline::stream
