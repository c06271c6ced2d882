// SPDX-License-Identifier: Apache-2.0
#include "loader/linked_files.hpp"

#include <hdf5.h>

#include <array>
#include <fstream>

#include <gtest/gtest.h>

#include "fakes/hdf5_files.hpp"
#include "fakes/temporary_folder.hpp"
#include "loader/hdf5_handle.hpp"
#include "loader/hdf5_library.hpp"

namespace ridgeline::loader {
namespace {

class LinkedFilesTest : public ::testing::Test {
 protected:
  template <typename Fill>
  void make(const std::string& name, const Fill& fill) {
    const std::lock_guard lock(hdf5_mutex());
    prepare_hdf5();
    const Hdf5Handle file(H5Fcreate((folder_ / name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    ASSERT_TRUE(file.valid());
    fill(file.get());
  }
  static void make_virtual(hid_t file, const std::string& source) {
    const std::array<hsize_t, 1> shape{10};
    const Hdf5Handle space(H5Screate_simple(1, shape.data(), nullptr), H5Sclose);
    const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_virtual(properties.get(), space.get(), source.c_str(), "x", space.get()), 0);
    const Hdf5Handle dataset(
        H5Dcreate2(file, "v", H5T_IEEE_F32LE, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Dclose);
    ASSERT_TRUE(dataset.valid());
  }
  std::vector<std::string> linked(const std::string& name) const {
    const auto found = find_linked_files(folder_ / name);
    EXPECT_TRUE(found);
    std::vector<std::string> names;
    for (const auto& file : found->files) names.push_back(file.filename().string());
    return names;
  }
  std::string print(const std::string& name) const {
    const auto found = data_fingerprint(folder_ / name);
    return found ? found->text : found.error().message;
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

  fakes::TemporaryFolder folder_;
};

using Names = std::vector<std::string>;

TEST_F(LinkedFilesTest, follows_external_links_virtual_sources_and_raw_storage) {
  fakes::Hdf5Case raw;
  raw.shape = {10};
  raw.external = true;
  fakes::write_hdf5(folder_ / "leaf.h5", raw);  // its values are in leaf.h5.raw
  make("middle.h5", [](hid_t file) { make_virtual(file, "leaf.h5"); });
  make("top.h5", [](hid_t file) {
    const Hdf5Handle group(H5Gcreate2(file, "train", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    H5Lcreate_external("middle.h5", "/v", group.get(), "x", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("gone.h5", "/v", group.get(), "y", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("top.h5", "/train", file, "circle", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_EQ(linked("leaf.h5"), (Names{"leaf.h5.raw"}));
  EXPECT_EQ(linked("middle.h5"), (Names{"leaf.h5", "leaf.h5.raw"}));
  EXPECT_EQ(linked("top.h5"), (Names{"leaf.h5", "leaf.h5.raw", "middle.h5"}));
  auto before = print("top.h5");
  const auto changed = [&](const std::string& what) {
    const auto now = print("top.h5");
    EXPECT_NE(now, before) << what;
    before = now;
  };
  EXPECT_EQ(print("top.h5"), before);
  write("leaf.h5.raw", "other values than those that were there");
  changed("raw storage");
  fakes::write_hdf5(folder_ / "gone.h5", raw);
  changed("a file that was missing");
  make("middle.h5", [](hid_t file) { make_virtual(file, "gone.h5"); });
  changed("the target of an external link");
}

TEST_F(LinkedFilesTest, follows_sources_that_are_numbered) {
  fakes::Hdf5Case part;
  part.shape = {10};
  for (const auto* name : {"part-0.h5", "part-1.h5", "part-2.h5", "part-4.h5"}) fakes::write_hdf5(folder_ / name, part);
  make("all.h5", [](hid_t file) {
    const std::array<hsize_t, 1> shape{30};
    const std::array<hsize_t, 1> most{H5S_UNLIMITED};
    const std::array<hsize_t, 1> start{0};
    const std::array<hsize_t, 1> block{10};
    const std::array<hsize_t, 1> count{H5S_UNLIMITED};
    const Hdf5Handle space(H5Screate_simple(1, shape.data(), most.data()), H5Sclose);
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), block.data(), count.data(), block.data());
    const Hdf5Handle source(H5Screate_simple(1, block.data(), nullptr), H5Sclose);
    const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_virtual(properties.get(), space.get(), "part-%b.h5", "x", source.get()), 0);
    const Hdf5Handle whole(H5Screate_simple(1, shape.data(), most.data()), H5Sclose);
    const Hdf5Handle dataset(
        H5Dcreate2(file, "x", H5T_IEEE_F32LE, whole.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Dclose);
    ASSERT_TRUE(dataset.valid());
  });
  EXPECT_EQ(linked("all.h5"), (Names{"part-0.h5", "part-1.h5", "part-2.h5"}));
}

TEST_F(LinkedFilesTest, other_files_and_folders_have_a_fingerprint_too) {
  write("data.bin", "no HDF5 file");
  EXPECT_EQ(linked("data.bin"), Names{});
  const auto plain = print("data.bin");
  EXPECT_EQ(plain.find('\n'), std::string::npos) << "results of plain files stay valid";
  std::filesystem::create_directories(folder_ / "images" / "cats");
  write("images/cats/1.jpg", "one");
  const auto before = print("images");
  EXPECT_EQ(print("images"), before);
  write("images/cats/1.jpg", "another");
  EXPECT_NE(print("images"), before);
  EXPECT_NE(print("nowhere").find("no such file"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::loader
