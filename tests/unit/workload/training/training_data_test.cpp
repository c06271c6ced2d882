// SPDX-License-Identifier: Apache-2.0
#include "workload/training/training_data.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "fakes/temporary_folder.hpp"
#include "loader/hdf5_handle.hpp"
#include "loader/hdf5_library.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

class TrainingDataTest : public testing::Test {
 protected:
  void SetUp() override { ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("XDG_CACHE_HOME"); }

  /// Datasets of one number a sample.
  template <typename T>
  void write(const char* name, hid_t type, const std::vector<T>& values) {
    const std::lock_guard lock(loader::hdf5_mutex());
    loader::prepare_hdf5();
    const bool first = !std::filesystem::exists(path_);
    const loader::Hdf5Handle file(first ? H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)
                                        : H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT),
                                  H5Fclose);
    const hsize_t length = values.size();
    const loader::Hdf5Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose);
    const loader::Hdf5Handle groups(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(groups.get(), 1);
    const loader::Hdf5Handle dataset(
        H5Dcreate2(file.get(), name, type, space.get(), groups.get(), H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    ASSERT_GE(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  }
  base::Result<DataCensus> census(const std::map<std::string, std::string>& options = {}) {
    auto data = choose_training_data(path_.string(), options);
    if (!data) return tl::unexpected<base::Error>(std::move(data).error());
    return inspect_training_data(*data);
  }

  fakes::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "data.h5";
};

TEST_F(TrainingDataTest, takes_the_first_usual_names_that_are_there) {
  write<float>("images", H5T_NATIVE_FLOAT, {1, 2, 3});
  write<std::uint8_t>("target", H5T_NATIVE_UINT8, {0, 4, 2});
  const auto data = choose_training_data(path_.string(), {});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->input, "images");
  EXPECT_EQ(data->label, "target");
  const auto found = inspect_training_data(*data);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->samples, 3U);
  EXPECT_EQ(found->classes, 5);
}

TEST_F(TrainingDataTest, lists_what_is_there_when_no_usual_name_is) {
  write<float>("voltages", H5T_NATIVE_FLOAT, {1, 2});
  const auto data = choose_training_data(path_.string(), {});
  ASSERT_FALSE(data);
  EXPECT_NE(data.error().message.find("it has voltages"), std::string::npos) << data.error().message;
  EXPECT_NE(data.error().hint.find("--option input_dataset=NAME"), std::string::npos);
  EXPECT_TRUE(choose_training_data(path_.string(), {{"input_dataset", "voltages"}}));
}

TEST_F(TrainingDataTest, datasets_in_groups_are_named_with_their_groups) {
  write<float>("train/x", H5T_NATIVE_FLOAT, {1, 2, 3});
  write<std::uint8_t>("train/y", H5T_NATIVE_UINT8, {0, 4, 2});
  write<float>("val/x", H5T_NATIVE_FLOAT, {1, 2});
  auto data = choose_training_data(path_.string(), {});
  ASSERT_FALSE(data);
  EXPECT_NE(data.error().message.find("it has train/x, train/y, val/x"), std::string::npos) << data.error().message;
  data = choose_training_data(path_.string(), {{"input_dataset", "train"}});
  ASSERT_FALSE(data);
  EXPECT_NE(data.error().message.find("\"train\" is a group, not a dataset; it has train/x, train/y"),
            std::string::npos)
      << data.error().message;
  EXPECT_NE(data.error().hint.find("input_dataset=NAME"), std::string::npos);
  // Labels are looked for next to the samples.
  write<std::uint8_t>("y", H5T_NATIVE_UINT8, {9, 9});
  data = choose_training_data(path_.string(), {{"input_dataset", "train/x"}});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->label, "train/y");
  data = choose_training_data(path_.string(), {{"input_dataset", "val/x"}});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->label, "y");
}

TEST_F(TrainingDataTest, data_without_samples_are_one_line) {
  write<float>("x", H5T_NATIVE_FLOAT, {});
  write<std::uint8_t>("y", H5T_NATIVE_UINT8, {});
  const auto found = census();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(found.error().message.find("dataset \"x\" has no samples (shape 0)"), std::string::npos)
      << found.error().message;
}

TEST_F(TrainingDataTest, finds_numbers_that_are_not_finite) {
  write<float>("x", H5T_NATIVE_FLOAT, {1, 2, std::numeric_limits<float>::quiet_NaN(), 4});
  const auto found = census();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(found.error().message.find("dataset \"x\": sample 2"), std::string::npos) << found.error().message;
}

TEST_F(TrainingDataTest, finds_infinity_in_labels) {
  write<float>("x", H5T_NATIVE_FLOAT, {1, 2});
  write<double>("y", H5T_NATIVE_DOUBLE, {0, std::numeric_limits<double>::infinity()});
  const auto found = census();
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("dataset \"y\": sample 1"), std::string::npos) << found.error().message;
}

TEST_F(TrainingDataTest, refuses_negative_classes) {
  write<float>("x", H5T_NATIVE_FLOAT, {1, 2});
  write<std::int64_t>("y", H5T_NATIVE_INT64, {3, -1});
  const auto found = census();
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("sample 1 has class -1"), std::string::npos);
}

TEST_F(TrainingDataTest, tells_no_classes_of_numbers_to_predict) {
  write<float>("x", H5T_NATIVE_FLOAT, {1, 2});
  write<float>("y", H5T_NATIVE_FLOAT, {0.5F, 1.5F});
  const auto found = census();
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->classes);
}

TEST_F(TrainingDataTest, counts_at_least_two_classes) {
  write<float>("x", H5T_NATIVE_FLOAT, {1, 2});
  write<std::int32_t>("y", H5T_NATIVE_INT32, {0, 0});
  EXPECT_EQ(census()->classes, 2);
}

TEST_F(TrainingDataTest, notes_what_the_hdf5_library_must_read) {
  write<float>("images", H5T_NATIVE_FLOAT, {1, 2});
  EXPECT_TRUE(census()->notes.empty());
  const loader::Hdf5Handle twelve_bits(H5Tcopy(H5T_NATIVE_INT16), H5Tclose);
  H5Tset_precision(twelve_bits.get(), 12);
  write<std::int16_t>("label", twelve_bits.get(), {0, 1});
  const auto found = census();
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->notes.size(), 1U);
  EXPECT_NE(found->notes[0].find("dataset \"label\" is read by the HDF5 library"), std::string::npos)
      << found->notes[0];
}

}  // namespace
}  // namespace ridgeline::workload
