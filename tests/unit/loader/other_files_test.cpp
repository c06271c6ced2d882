// SPDX-License-Identifier: Apache-2.0
// Datasets whose bytes lie in other files: external links, external storage, sources of virtual datasets. The many
// layouts are compared with h5py in tests/cli/hdf5_layouts.py.
#include <hdf5.h>

#include <filesystem>
#include <numeric>

#include <gtest/gtest.h>

#include "fakes/hdf5_files.hpp"
#include "fakes/temporary_folder.hpp"
#include "loader/hdf5_handle.hpp"
#include "loader/hdf5_library.hpp"
#include "loader/loader.hpp"

namespace ridgeline::loader {
namespace {

class OtherFiles : public ::testing::Test {
 protected:
  /// A file whose own data are 77, at the places where that of another file has its data.
  template <typename Fill>
  void make(const std::string& name, const Fill& fill) {
    const std::lock_guard lock(hdf5_mutex());
    prepare_hdf5();
    const Hdf5Handle file(H5Fcreate((folder_ / name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    ASSERT_TRUE(file.valid());
    const std::vector<std::int64_t> filler(4096, 77);
    const hsize_t length = filler.size();
    const Hdf5Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose);
    const Hdf5Handle dataset(
        H5Dcreate2(file.get(), "filler", H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    ASSERT_GE(H5Dwrite(dataset.get(), H5T_STD_I64LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, filler.data()), 0);
    fill(file.get());
  }
  [[nodiscard]] base::Result<std::vector<std::byte>> read(const std::string& name, const std::string& dataset,
                                                          std::vector<std::string>* notes = nullptr) const {
    LoaderOptions options;
    options.datasets = {dataset};
    options.sampler.order = SampleOrder::sequential;
    options.layouts = LayoutCache(folder_ / "layouts");
    RL_TRY_ASSIGN(const auto loader, Loader::open(folder_ / name, options, std::make_shared<HostAllocator>()));
    if (notes != nullptr) *notes = loader->notes();
    RL_TRY(loader->start_epoch(0));
    RL_TRY_ASSIGN(const auto batch, loader->next());
    const auto data = batch->data(0);
    return std::vector<std::byte>(data.begin(), data.end());
  }

  fakes::TemporaryFolder folder_;
};

TEST_F(OtherFiles, behind_an_external_link_the_owners_bytes_are_read) {
  fakes::Hdf5Case side;
  side.shape = {60, 4};
  for (const auto& form : {"contiguous", "chunked", "compact"}) {
    SCOPED_TRACE(form);
    side.chunk.clear();
    side.filters.clear();
    side.user_block = 0;
    side.compact = std::string(form) == "compact";
    if (std::string(form) == "chunked") {
      side.chunk = {7, 3};
      side.filters = "g";
      side.user_block = 1024;
    }
    fakes::write_hdf5(folder_ / "side.h5", side);
    make("main.h5", [](hid_t file) {
      H5Lcreate_external("side.h5", "/x", file, "x", H5P_DEFAULT, H5P_DEFAULT);
      H5Lcreate_external("side.h5", "/", file, "all", H5P_DEFAULT, H5P_DEFAULT);
      H5Lcreate_soft("/all/x", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
    });
    const auto expected = fakes::read_with_library(folder_ / "side.h5");
    for (const auto* name : {"x", "all/x", "soft"}) {
      std::vector<std::string> notes;
      const auto values = read("main.h5", name, &notes);
      ASSERT_TRUE(values) << values.error().message;
      EXPECT_TRUE(*values == expected) << name;
      ASSERT_FALSE(notes.empty());
      EXPECT_NE(notes.front().find((folder_ / "side.h5").string()), std::string::npos) << notes.front();
    }
    // The link leads to another file of that name from now on: a remembered layout would give other bytes.
    fakes::Hdf5Case other = side;
    other.shape = {50, 5};
    fakes::write_hdf5(folder_ / "side.h5", other);
    const auto anew = read("main.h5", "x");
    ASSERT_TRUE(anew) << anew.error().message;
    EXPECT_TRUE(*anew == fakes::read_with_library(folder_ / "side.h5"));
  }
}

TEST_F(OtherFiles, links_that_lead_nowhere_are_one_line) {
  fakes::write_hdf5(folder_ / "side.h5", fakes::Hdf5Case{});
  make("main.h5", [](hid_t file) {
    H5Lcreate_external("gone.h5", "/x", file, "gone", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("side.h5", "/z", file, "no_object", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("main.h5", "/circle", file, "circle", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT);
  });
  const auto message = [&](const std::string& dataset) {
    const auto values = read("main.h5", dataset);
    return values ? std::string("no error") : base::error_line(values.error());
  };
  const auto path = (folder_ / "main.h5").string();
  EXPECT_EQ(message("gone"),
            path +
                ": dataset \"gone\" is an external link to \"/x\" of \"gone.h5\", and that file cannot "
                "be opened; put it into the folder of main.h5, or name its folder in HDF5_EXT_PREFIX");
  EXPECT_NE(message("no_object").find("\"/z\" of \"side.h5\", which cannot be opened"), std::string::npos);
  EXPECT_NE(message("circle").find("a link that leads in a circle"), std::string::npos) << message("circle");
  EXPECT_EQ(message("dangling"), path + ": dataset \"dangling\" is a link to \"/nowhere\", which does not exist");
}

TEST_F(OtherFiles, external_storage_that_is_missing_or_short_is_refused) {
  fakes::Hdf5Case c;
  c.shape = {10, 6};
  c.external = true;
  fakes::write_hdf5(folder_ / "data.h5", c);
  EXPECT_TRUE(read("data.h5", "x"));
  const auto raw = folder_ / "data.h5.raw";
  std::filesystem::resize_file(raw, 100);
  const auto is_short = read("data.h5", "x");
  ASSERT_FALSE(is_short);
  EXPECT_NE(is_short.error().message.find("has 100 bytes, expected 240"), std::string::npos)
      << is_short.error().message;
  std::filesystem::remove(raw);
  const auto missing = read("data.h5", "x");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find(raw.string()), std::string::npos) << missing.error().message;
}

TEST_F(OtherFiles, a_virtual_dataset_says_which_values_are_only_the_fill_value) {
  fakes::Hdf5Case part;
  part.shape = {10, 4};
  fakes::write_hdf5(folder_ / "part.h5", part);
  const auto join = [&](const std::string& first, const std::string& second) {
    make("main.h5", [&](hid_t file) {
      const std::array<hsize_t, 2> shape{20, 4};
      const std::array<hsize_t, 2> half{10, 4};
      const Hdf5Handle source(H5Screate_simple(2, half.data(), nullptr), H5Sclose);
      const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      for (const hsize_t row : {0, 10}) {
        const Hdf5Handle space(H5Screate_simple(2, shape.data(), nullptr), H5Sclose);
        const std::array<hsize_t, 2> start{row, 0};
        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, half.data(), nullptr);
        H5Pset_virtual(properties.get(), space.get(), (row == 0 ? first : second).c_str(), "x", source.get());
      }
      const Hdf5Handle space(H5Screate_simple(2, shape.data(), nullptr), H5Sclose);
      const Hdf5Handle dataset(
          H5Dcreate2(file, "x", H5T_IEEE_F32LE, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Dclose);
      ASSERT_TRUE(dataset.valid());
    });
  };
  std::vector<std::string> notes;
  join("part.h5", "part.h5");
  auto values = read("main.h5", "x", &notes);
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_TRUE(*values == fakes::read_with_library(folder_ / "main.h5"));
  EXPECT_EQ(notes.size(), 1U) << notes.back();
  join("part.h5", "gone.h5");
  values = read("main.h5", "x", &notes);
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_EQ(notes.back(),
            "dataset \"x\": 40 of 80 values are only the fill value, as 1 of 2 sources is missing: file "
            "\"gone.h5\" cannot be opened");
  join("gone.h5", "lost.h5");
  values = read("main.h5", "x");
  ASSERT_FALSE(values);
  EXPECT_NE(values.error().message.find("no value is there, all of its 2 sources are missing"), std::string::npos)
      << values.error().message;
  part.shape = {6, 4};
  fakes::write_hdf5(folder_ / "short.h5", part);
  join("part.h5", "short.h5");
  values = read("main.h5", "x");
  ASSERT_FALSE(values);
  EXPECT_NE(values.error().message.find("its source \"x\" of \"short.h5\""), std::string::npos)
      << values.error().message;
}

}  // namespace
}  // namespace ridgeline::loader
