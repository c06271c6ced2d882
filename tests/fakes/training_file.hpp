// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <vector>

#include "loader/hdf5_handle.hpp"
#include "loader/hdf5_library.hpp"

namespace ridgeline::fakes {

struct TrainingFile {
  std::uint64_t samples = 1000;
  std::uint64_t values = 24;  ///< 32-bit integers in a row of "x"
  std::uint64_t chunk_rows = 16;
  unsigned gzip = 0;  ///< level of "x"; 0: unfiltered
  bool fletcher32 = false;
  std::uint64_t labels = 0;  ///< rows of "y" (contiguous, 64-bit); 0: as many as samples
};

/// Value v of sample s in "x" is s * 1000 + v; "y" holds s * 7.
inline void write_training_file(const std::filesystem::path& path, const TrainingFile& f) {
  using loader::Hdf5Handle;
  const std::lock_guard lock(loader::hdf5_mutex());
  loader::prepare_hdf5();
  const Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  const auto write = [&](const char* name, hid_t type, std::vector<hsize_t> shape, hid_t properties, const void* data) {
    const Hdf5Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
    const Hdf5Handle dataset(H5Dcreate2(file.get(), name, type, space.get(), H5P_DEFAULT, properties, H5P_DEFAULT),
                             H5Dclose);
    H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  };
  std::vector<std::int32_t> x(f.samples * f.values);
  for (std::uint64_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int32_t>(i / f.values * 1000 + i % f.values);
  const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk[2]{f.chunk_rows, f.values};
  H5Pset_chunk(properties.get(), 2, chunk);
  if (f.gzip > 0) H5Pset_deflate(properties.get(), f.gzip);
  if (f.fletcher32) H5Pset_fletcher32(properties.get());
  write("x", H5T_STD_I32LE, {f.samples, f.values}, properties.get(), x.data());
  const auto labels = f.labels == 0 ? f.samples : f.labels;
  std::vector<std::int64_t> y(labels);
  for (std::uint64_t i = 0; i < labels; ++i) y[i] = static_cast<std::int64_t>(i * 7);
  write("y", H5T_STD_I64LE, {labels}, H5P_DEFAULT, y.data());
}

}  // namespace ridgeline::fakes
