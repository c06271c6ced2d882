// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "workload/element_type.hpp"

namespace ridgeline::workload {

/// A folder of a model's outputs, a .npy file for each of every frame: `SOURCE-FRAME.OUTPUT.npy`. From any threads.
class TensorFolder {
 public:
  /// Creates the folder; `outputs` are the model's names, of which letters, digits, '.', '-' and '_' stay. Errors: io
  /// (it cannot be created or written to).
  [[nodiscard]] static base::Result<TensorFolder> create(const std::filesystem::path& folder,
                                                         const std::vector<std::string>& outputs);

  /// Of output number `output`. The file appears once it is whole. Errors: io, naming the file; unsupported for types
  /// that NumPy does not have.
  [[nodiscard]] base::Result<void> write(std::uint32_t source, std::uint64_t frame, std::size_t output,
                                         ElementType type, std::span<const std::int64_t> dims,
                                         std::string_view bytes) const;

 private:
  TensorFolder(std::filesystem::path folder, std::vector<std::string> names)
      : folder_(std::move(folder)), names_(std::move(names)) {}

  std::filesystem::path folder_;
  std::vector<std::string> names_;
};

}  // namespace ridgeline::workload
