// SPDX-License-Identifier: Apache-2.0
// Writes an HDF5 file for the tests of training: 512 samples "x" of 12 float32 numbers, chunked and compressed; their
// classes "y" (0 to 3), which can be learned; "height", a number to predict; "bytes", the samples as uint8; "grid", the
// samples as images of 3 x 2 x 2; "broken", with a NaN in sample 7; "few", too few labels.
#include <hdf5.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include "base/random.hpp"

namespace {

constexpr hsize_t kSamples = 512;
constexpr hsize_t kValues = 12;
constexpr hsize_t kFew = 100;

void write(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& shape, const void* data) {
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  std::vector<hsize_t> chunk = shape;
  chunk[0] = 32;
  H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
  H5Pset_deflate(properties, 1);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  if (dataset < 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) std::perror(name);
  H5Dclose(dataset);
  H5Pclose(properties);
  H5Sclose(space);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("write_training_file FILE.h5\n", stderr);
    return 2;
  }
  ridgeline::base::Random random(1);
  std::vector<float> x;
  std::vector<std::int64_t> y;
  std::vector<float> height;
  std::vector<std::uint8_t> bytes;
  for (hsize_t i = 0; i < kSamples; ++i) {
    const auto kind = static_cast<std::int64_t>(random.below(4));
    float sum = 0;
    for (hsize_t v = 0; v < kValues; ++v) {
      const auto noise = static_cast<float>(random.uniform());
      x.push_back(noise + (static_cast<std::int64_t>(v % 4) == kind ? 1.0F : 0.0F));
      bytes.push_back(static_cast<std::uint8_t>(100 * x.back()));
      sum += x.back();
    }
    y.push_back(kind);
    height.push_back(sum);
  }
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) return 1;
  write(file, "x", H5T_NATIVE_FLOAT, {kSamples, kValues}, x.data());
  write(file, "y", H5T_NATIVE_INT64, {kSamples}, y.data());
  write(file, "height", H5T_NATIVE_FLOAT, {kSamples}, height.data());
  write(file, "grid", H5T_NATIVE_FLOAT, {kSamples, 3, 2, 2}, x.data());
  write(file, "bytes", H5T_NATIVE_UINT8, {kSamples, kValues}, bytes.data());
  x[7 * kValues + 3] = std::numeric_limits<float>::quiet_NaN();
  write(file, "broken", H5T_NATIVE_FLOAT, {kSamples, kValues}, x.data());
  write(file, "few", H5T_NATIVE_INT64, {kFew}, y.data());
  H5Fclose(file);
  return 0;
}
