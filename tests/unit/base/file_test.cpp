// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/hash.hpp"

namespace ridgeline::base {
namespace {

namespace fs = std::filesystem;

class File : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "rl-file-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  fs::path folder_;
};

TEST_F(File, reads_back_what_was_written) {
  const std::string bytes("a\0b\r\n", 5);
  ASSERT_TRUE(write_file_atomically(folder_ / "x", bytes));
  EXPECT_EQ(read_file(folder_ / "x"), bytes);
  EXPECT_EQ(entries(), 1) << "no temporary file stays";
}

TEST_F(File, keeps_the_permissions_of_the_replaced_file) {
  ASSERT_TRUE(write_file_atomically(folder_ / "x", "1"));
  ASSERT_EQ(::chmod((folder_ / "x").c_str(), 0640), 0);
  ASSERT_TRUE(write_file_atomically(folder_ / "x", "2"));
  EXPECT_EQ(fs::status(folder_ / "x").permissions(), static_cast<fs::perms>(0640));
}

TEST_F(File, keeps_the_owner_and_special_permissions_of_the_replaced_file) {
  ASSERT_TRUE(write_file_atomically(folder_ / "x", "1"));
  if (::geteuid() != 0 || ::chown((folder_ / "x").c_str(), 65534, 65533) != 0)
    GTEST_SKIP() << "needs the right to chown";
  ASSERT_EQ(::chmod((folder_ / "x").c_str(), 06755), 0);
  ASSERT_TRUE(write_file_atomically(folder_ / "x", "2"));
  struct stat now {};
  ASSERT_EQ(::stat((folder_ / "x").c_str(), &now), 0);
  EXPECT_EQ(now.st_uid, 65534U);
  EXPECT_EQ(now.st_gid, 65533U);
  EXPECT_EQ(now.st_mode & 07777U, 06755U) << "a change of owner takes these away";
}

TEST_F(File, follows_a_symbolic_link_and_keeps_it) {
  ASSERT_TRUE(write_file_atomically(folder_ / "target", "1"));
  fs::create_symlink("target", folder_ / "link");
  ASSERT_TRUE(write_file_atomically(folder_ / "link", "2"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "target"), "2");
}

TEST_F(File, refuses_a_folder_and_leaves_nothing_behind) {
  fs::create_directory(folder_ / "d");
  EXPECT_FALSE(write_file_atomically(folder_ / "d", "x"));
  EXPECT_EQ(entries(), 1);
  const auto read = read_file(folder_ / "d");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::io);
}

TEST_F(File, names_a_missing_path) {
  const auto read = read_file(folder_ / "absent");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::not_found);
  EXPECT_NE(read.error().message.find("absent"), std::string::npos);
  EXPECT_FALSE(write_file_atomically(folder_ / "no" / "x", "1"));
}

TEST_F(File, hashes_a_file_as_its_bytes) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  ASSERT_TRUE(write_file_atomically(folder_ / "x", std::string(300'000, 'q')));
  EXPECT_EQ(sha256_file(folder_ / "x"), sha256_hex(std::string(300'000, 'q')));
  EXPECT_FALSE(sha256_file(folder_ / "absent"));
}

TEST_F(File, knows_the_running_program) { EXPECT_EQ(executable_path().filename(), "rl_thread_test"); }

}  // namespace
}  // namespace ridgeline::base
