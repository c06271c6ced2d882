// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/error.hpp"
#include "loader/dataset_layout.hpp"

namespace ridgeline::loader {

/// The one lock around the HDF5 library, which is not to be entered by two threads at once.
[[nodiscard]] std::mutex& hdf5_mutex();

/// Reads a dataset's layout through the library, the chunk index by ourselves where we can. Damaged metadata may crash
/// the library: callers use read_layout (layout_reader.hpp), which does this in a child process. Errors: not_found
/// (file, or dataset: the message lists those there), corrupt, unsupported (no elements of fixed size).
[[nodiscard]] base::Result<DatasetLayout> inspect_dataset(const std::filesystem::path& path,
                                                          const std::string& dataset);

/// A dataset kept open in the library, for what we do not read ourselves. Thread-safe; reads take turns.
class LibraryDataset {
 public:
  [[nodiscard]] static base::Result<LibraryDataset> open(const std::filesystem::path& path,
                                                         const DatasetLayout& layout);
  LibraryDataset(LibraryDataset&&) noexcept;
  LibraryDataset& operator=(LibraryDataset&&) noexcept;
  ~LibraryDataset();

  /// Rows [first, first + count) to `out` (count * row_bytes()). Errors: corrupt, with the library's reason.
  [[nodiscard]] base::Result<void> read(std::uint64_t first, std::uint64_t count, std::span<std::byte> out) const;

 private:
  struct Handles;
  explicit LibraryDataset(std::unique_ptr<Handles> handles);
  std::unique_ptr<Handles> handles_;
};

}  // namespace ridgeline::loader
