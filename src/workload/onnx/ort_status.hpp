// SPDX-License-Identifier: Apache-2.0
// What the files that speak ONNX Runtime's C API share. Include only from .cpp files.
#pragma once

#include <memory>
#include <string>

#include <onnxruntime_c_api.h>

#include "base/error.hpp"
#include "workload/onnx/ort_error.hpp"

namespace ridgeline::workload {

/// Consumes a status: success, or its class and text.
[[nodiscard]] inline base::Result<void> check_ort(const OrtApi& api, OrtStatus* status) {
  if (status == nullptr) return {};
  auto error = classify_ort_error(static_cast<int>(api.GetErrorCode(status)), api.GetErrorMessage(status));
  api.ReleaseStatus(status);
  return tl::unexpected<base::Error>(std::move(error));
}

/// An object of the C API, released with the function of its table.
template <typename T>
using OrtHandle = std::unique_ptr<T, void (*)(T*)>;

}  // namespace ridgeline::workload
