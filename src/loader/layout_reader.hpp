// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "loader/data_file.hpp"
#include "loader/dataset_layout.hpp"

namespace ridgeline::loader {

/// Layouts that were read before, one file each in a folder. An entry counts only for the same path, dataset, device,
/// inode, size and modification time, and only with an intact CRC-32; any other is as good as none.
class LayoutCache {
 public:
  /// An empty folder switches the cache off.
  explicit LayoutCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// `layouts` in the user's cache folder.
  [[nodiscard]] static LayoutCache of_user();

  /// not_found when there is none, corrupt when there is a damaged one; both mean: read the file.
  [[nodiscard]] base::Result<DatasetLayout> find(const DataFile& file, const std::string& dataset) const;
  /// Writes in one step, unless values lie in other files, whose changes would not be seen. Errors: io.
  [[nodiscard]] base::Result<void> keep(const DataFile& file, const DatasetLayout& layout) const;
  /// The entry's place, whether or not it exists.
  [[nodiscard]] std::filesystem::path entry(const DataFile& file, const std::string& dataset) const;

 private:
  std::filesystem::path folder_;
};

/// What a child process made of a file's metadata: the library's own opinion, or the error that stands for its death.
/// Damaged metadata can crash the HDF5 library or send it round in circles; the child takes that. No exec: the child is
/// a copy of this process that only reads the layout and leaves. Errors: as inspect_dataset; corrupt when the child
/// died; timeout after ten minutes.
[[nodiscard]] base::Result<DatasetLayout> inspect_in_child(const std::filesystem::path& path,
                                                           const std::string& dataset);

/// The layout from the cache or, failing that, from the file, then kept. A cache that cannot be written is no error.
[[nodiscard]] base::Result<DatasetLayout> read_layout(const DataFile& file, const std::string& dataset,
                                                      const LayoutCache& cache);

}  // namespace ridgeline::loader
