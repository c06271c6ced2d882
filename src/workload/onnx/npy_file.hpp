// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "workload/element_type.hpp"

namespace ridgeline::workload {

/// A dense tensor in C order, little endian.
struct Tensor {
  ElementType type = ElementType::float32;
  std::vector<std::int64_t> dims;
  std::string bytes;
};

/// Reads NumPy's .npy format, versions 1 to 3 (numpy.lib.format), little endian and C order. Two-byte void elements,
/// which is how NumPy stores bfloat16, are read as bfloat16. Errors: not_found and io from the file; corrupt for a
/// broken header or a length that does not fit the shape; unsupported for big-endian, Fortran order, objects and text,
/// each with the line of Python that converts the file.
[[nodiscard]] base::Result<Tensor> read_npy(const std::filesystem::path& path);

/// The same from memory; `what` names the source in messages.
[[nodiscard]] base::Result<Tensor> parse_npy(std::string_view bytes, std::string_view what);

/// What goes before the bytes of a tensor in C order, as numpy.save writes it (version 1.0). Errors: unsupported for
/// text and packed types.
[[nodiscard]] base::Result<std::string> npy_header(ElementType type, std::span<const std::int64_t> dims);

}  // namespace ridgeline::workload
