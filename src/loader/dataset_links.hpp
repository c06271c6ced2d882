// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "loader/hdf5_handle.hpp"

namespace ridgeline::loader {

// Datasets by their names, through links. hdf5_mutex() must be held.

struct NamedDataset {
  Hdf5Handle dataset;
  Hdf5Handle owner;                    ///< the file that holds the dataset
  bool through_external_link = false;  ///< the owner, or a file on the way there, is not the one that was opened
};

/// Opens a dataset, following links within the file and into others. Errors: not_found (no such name: the message lists
/// the datasets that there are), invalid_argument (no dataset), unsupported (written by a newer HDF5), corrupt (a link
/// that leads nowhere or in a circle, damage).
[[nodiscard]] base::Result<NamedDataset> open_dataset(hid_t file, const std::string& name);

/// Absolute path of the file that an identifier belongs to.
[[nodiscard]] std::filesystem::path path_of_file(hid_t id);

}  // namespace ridgeline::loader
