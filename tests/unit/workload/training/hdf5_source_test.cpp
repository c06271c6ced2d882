// SPDX-License-Identifier: Apache-2.0
#include "workload/training/hdf5_source.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstdint>
#include <vector>

#include "fakes/temporary_folder.hpp"
#include "loader/hdf5_handle.hpp"
#include "loader/hdf5_library.hpp"

namespace ridgeline::workload {
namespace {

class Hdf5SourceTest : public testing::Test {
 protected:
  void SetUp() override { ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("XDG_CACHE_HOME"); }

  /// Datasets x and y, one element a sample: 0, 1, 2 and so on.
  void write(hid_t x_type, hid_t y_type) {
    const std::lock_guard lock(loader::hdf5_mutex());
    loader::prepare_hdf5();
    const loader::Hdf5Handle file(H5Fcreate(data_.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    std::vector<std::int64_t> numbers(8);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
    const hsize_t length = numbers.size();
    const loader::Hdf5Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose);
    for (const auto& [name, type] : {std::pair{"x", x_type}, std::pair{"y", y_type}}) {
      const loader::Hdf5Handle dataset(
          H5Dcreate2(file.get(), name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
      ASSERT_TRUE(dataset.valid());
      if (H5Tget_class(type) == H5T_COMPOUND) continue;
      ASSERT_GE(H5Dwrite(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), 0);
    }
  }
  base::Result<std::unique_ptr<Hdf5Source>> open() {
    data_.order = loader::SampleOrder::sequential;
    return Hdf5Source::open(data_, {8, 0, false, 1}, api_);
  }
  /// The first batch; what the source lends is given back by the test.
  static rl_train_batch next(const Hdf5Source& source) {
    rl_train_batch batch{};
    batch.struct_size = sizeof batch;
    EXPECT_EQ(source.interface().next(source.interface().self, &batch, nullptr), RL_TRAIN_OK);
    return batch;
  }

  fakes::TemporaryFolder folder_;
  TrainingData data_{(folder_ / "data.h5").string(), "x", "y"};
  rl_train_api api_{};
};

TEST_F(Hdf5SourceTest, unsigned_integers_are_lent_in_a_type_that_libtorch_has) {
  write(H5T_STD_U16BE, H5T_STD_U32LE);
  const auto source = open();
  ASSERT_TRUE(source) << source.error().message;
  const auto batch = next(**source);
  EXPECT_EQ(batch.input.dtype, RL_DTYPE_INT32);
  EXPECT_EQ(batch.label.dtype, RL_DTYPE_INT64);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(static_cast<const std::int32_t*>(batch.input.data)[i], i);
    EXPECT_EQ(static_cast<const std::int64_t*>(batch.label.data)[i], i);
  }
  (*source)->interface().release((*source)->interface().self, &batch);
}

TEST_F(Hdf5SourceTest, other_numbers_keep_their_type) {
  write(H5T_STD_U8LE, H5T_IEEE_F32BE);
  const auto source = open();
  ASSERT_TRUE(source) << source.error().message;
  const auto batch = next(**source);
  EXPECT_EQ(batch.input.dtype, RL_DTYPE_UINT8);
  EXPECT_EQ(batch.label.dtype, RL_DTYPE_FLOAT32);
  EXPECT_EQ(static_cast<const float*>(batch.label.data)[7], 7.0F);
  (*source)->interface().release((*source)->interface().self, &batch);
}

TEST_F(Hdf5SourceTest, compound_elements_are_refused_in_one_line) {
  const loader::Hdf5Handle pair(H5Tcreate(H5T_COMPOUND, 12), H5Tclose);
  H5Tinsert(pair.get(), "a", 0, H5T_STD_I32LE);
  H5Tinsert(pair.get(), "b", 4, H5T_IEEE_F64LE);
  write(pair.get(), H5T_STD_I64LE);
  const auto source = open();
  ASSERT_FALSE(source);
  EXPECT_EQ(base::error_line(source.error()),
            data_.path +
                ": dataset \"x\" has elements of opaque16 (compound elements), which cannot be trained on; "
                "store them as float32, uint8 or int64");
}

TEST_F(Hdf5SourceTest, complex_numbers_are_refused_as_such) {
  const loader::Hdf5Handle pair(H5Tcreate(H5T_COMPOUND, 8), H5Tclose);  // as h5py writes them
  H5Tinsert(pair.get(), "r", 0, H5T_IEEE_F32LE);
  H5Tinsert(pair.get(), "i", 4, H5T_IEEE_F32LE);
  write(pair.get(), H5T_STD_I64LE);
  const auto source = open();
  ASSERT_FALSE(source);
  EXPECT_NE(base::error_line(source.error()).find("dataset \"x\" has elements of"), std::string::npos);
  EXPECT_NE(base::error_line(source.error()).find("(complex numbers), which cannot be trained on"), std::string::npos)
      << base::error_line(source.error());
}

}  // namespace
}  // namespace ridgeline::workload
