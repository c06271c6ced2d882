// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"

namespace ridgeline::trace {

/// What wrote a file.
enum class FileKind {
  kineto,       ///< the PyTorch profiler, or another that writes Chrome's JSON
  onnxruntime,  ///< ONNX Runtime's own profiler
  nsys,         ///< Nsight Systems, exported to SQLite
  ncu,          ///< Nsight Compute, as CSV
  snapshot,     ///< PyTorch's CUDA allocator, a pickle
  ridgeline,    ///< a trace file of our own (.rltrace)
};

/// By what the file begins with, unpacked where it is gzip; its name does not count. Errors: io; unsupported, with what
/// is read and how to make it.
[[nodiscard]] base::Result<FileKind> file_kind(const std::string& path);

}  // namespace ridgeline::trace
