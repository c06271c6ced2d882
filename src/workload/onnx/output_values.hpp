// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "workload/onnx/ort_values.hpp"

namespace ridgeline::workload {

/// A model's output as floats, whatever its type; memory is used again.
class OutputValues {
 public:
  /// Reads `value`; valid while it is, and until the next read. Errors: unsupported for text, complex and packed types,
  /// and for what is no dense tensor.
  [[nodiscard]] base::Result<void> read(const OrtApi& api, const OrtValue* value, const OrtPort& port);

  [[nodiscard]] std::span<const std::int64_t> dims() const noexcept { return dims_; }
  [[nodiscard]] std::span<const float> values() const noexcept { return values_; }
  /// As the model gave them.
  [[nodiscard]] ElementType type() const noexcept { return type_; }
  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

 private:
  ElementType type_ = ElementType::float32;
  std::vector<std::int64_t> dims_;
  std::string_view bytes_;
  std::span<const float> values_;
  std::vector<float> converted_;
};

}  // namespace ridgeline::workload
