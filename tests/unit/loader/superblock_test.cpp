// SPDX-License-Identifier: Apache-2.0
// What is said of a file that the library refuses: no HDF5, cut off, or damaged.
#include "loader/superblock.hpp"

#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "fakes/hdf5_files.hpp"
#include "fakes/temporary_folder.hpp"
#include "loader/layout_reader.hpp"

namespace ridgeline::loader {
namespace {

class SuperblockTest : public ::testing::TestWithParam<std::tuple<bool, unsigned>> {
 protected:
  std::string whole() const {
    fakes::Hdf5Case c;
    c.shape = {400, 12};
    c.latest = std::get<0>(GetParam());
    c.user_block = std::get<1>(GetParam());
    fakes::write_hdf5(path_, c);
    return *base::read_file(path_);
  }
  std::string message(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    const auto file = DataFile::open(path_);
    const auto layout = read_layout(*file, "x", LayoutCache(""));
    if (layout) return "no error";
    EXPECT_EQ(layout.error().code, base::ErrorCode::corrupt);
    return base::error_line(layout.error());
  }

  fakes::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "data.h5";
};

TEST_P(SuperblockTest, is_found_with_the_files_end) {
  const auto bytes = whole();
  const auto found = find_superblock(*DataFile::open(path_));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset, std::get<1>(GetParam()));
  EXPECT_EQ(found->end_of_file, bytes.size());
}

TEST_P(SuperblockTest, a_file_that_is_cut_off_is_told_by_its_bytes) {
  const auto bytes = whole();
  EXPECT_EQ(message(bytes.substr(0, bytes.size() - 5000)),
            fmt::format("{}: is cut off: {} bytes of {}; copy it again, or let its writer close it", path_.string(),
                        bytes.size() - 5000, bytes.size()));
}

TEST_P(SuperblockTest, a_damaged_header_is_told_with_the_librarys_reason) {
  auto bytes = whole();
  const auto begin = std::get<1>(GetParam());
  bytes.replace(begin + 8, 4, "\xEE\xEE\xEE\xEE");  // version and sizes
  const auto said = message(bytes);
  EXPECT_TRUE(said.starts_with(fmt::format("{}: its header is damaged ({} bytes): ", path_.string(), bytes.size())))
      << said;
  EXPECT_NE(said.find("; copy it again, or create it anew"), std::string::npos) << said;
  EXPECT_EQ(said.find("no reason given"), std::string::npos) << said;
}

TEST_P(SuperblockTest, what_has_no_signature_is_no_hdf5) {
  auto bytes = whole();
  bytes[std::get<1>(GetParam())] = 'x';
  EXPECT_EQ(message(bytes),
            fmt::format("{}: is no HDF5 file: it does not begin with the HDF5 signature ({} bytes); name a "
                        "file that h5py or another HDF5 library wrote",
                        path_.string(), bytes.size()));
  EXPECT_EQ(message(""), path_.string() + ": is empty: expected an HDF5 file");
  EXPECT_NE(message("\x89HDF").find("is no HDF5 file"), std::string::npos);
}

TEST_P(SuperblockTest, a_file_in_use_elsewhere_is_not_called_damaged) {
  const auto bytes = whole();
  const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  const auto layout = read_layout(*DataFile::open(path_), "x", LayoutCache(""));
  ::close(fd);
  ASSERT_FALSE(layout);
  EXPECT_NE(layout.error().message.find("cannot be opened as HDF5"), std::string::npos) << layout.error().message;
  EXPECT_NE(layout.error().message.find("unable to lock file"), std::string::npos) << layout.error().message;
}

INSTANTIATE_TEST_SUITE_P(Forms, SuperblockTest,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(0U, 512U, 4096U)));

}  // namespace
}  // namespace ridgeline::loader
