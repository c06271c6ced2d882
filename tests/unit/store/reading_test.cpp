// SPDX-License-Identifier: Apache-2.0
// Opened for reading: by someone who may write neither the file nor its folder.
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>

#include <gtest/gtest.h>

#include "child_process.hpp"
#include "sample_records.hpp"
#include "store/sqlite.hpp"

namespace ridgeline::store {
namespace {

namespace fs = std::filesystem;

const StoreOptions kRead{std::chrono::milliseconds(50), Access::read};

/// A folder that everyone may look into, with a results file of one trial under a name that an URI would misread.
class Reading : public testing::Test {
 protected:
  void SetUp() override {
    chmod(folder_.path().c_str(), 0755);
    auto store = *Store::open(path_);
    ASSERT_TRUE(store.save_trial(make_spec(1), make_outcome()));
  }
  void TearDown() override { chmod(folder_.path().c_str(), 0755); }

  void lock() const {
    for (const auto& entry : fs::directory_iterator(folder_.path())) chmod(entry.path().c_str(), 0444);
    chmod(folder_.path().c_str(), 0555);
  }
  /// Trials that a child without rights finds, by their numbers; kRefused: an error with these words.
  static int counted(const fs::path& path, const std::string& words = "\n") {
    return wait_for(start_child([&] {
      if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return kSkipped;
      auto store = Store::open(path, kRead);
      int count = 0;
      auto found = store ? store->find_trial(make_spec(1).key()) : tl::unexpected(store.error());
      for (int number = 2; found && *found; ++number, ++count) found = store->find_trial(make_spec(number).key());
      if (found) return count;
      const auto said = base::error_line(found.error());
      std::cerr << said << "\n";
      return said.find(words) != std::string::npos ? kRefused : kOtherError;
    }));
  }
  int files() const {
    return static_cast<int>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  static constexpr int kRefused = 101;
  static constexpr int kOtherError = 102;
  const TempFolder folder_;
  const fs::path path_ = folder_ / "a?b#c%41.db";
};

TEST_F(Reading, needs_no_right_to_write_and_leaves_nothing_behind) {
  lock();
  const int count = counted(path_);
  if (count == kSkipped) GTEST_SKIP() << "cannot give up root's rights here";
  EXPECT_EQ(count, 1);
  EXPECT_EQ(files(), 1);
}

TEST_F(Reading, sees_what_a_writer_at_work_has_saved) {
  auto writer = *Store::open(path_);
  ASSERT_TRUE(writer.save_trial(make_spec(2), make_outcome()));
  lock();
  const int count = counted(path_);
  if (count == kSkipped) GTEST_SKIP() << "cannot give up root's rights here";
  EXPECT_EQ(count, 2);
  const TempFolder other;  // the log is beside the file, not beside a link to it
  chmod(other.path().c_str(), 0755);
  fs::create_symlink(path_, other / "link.db");
  EXPECT_EQ(counted(other / "link.db"), 2);
}

TEST_F(Reading, sees_what_a_killed_writer_had_saved_or_says_who_can) {
  const auto pid = start_child([&]() -> int {
    auto writer = *Store::open(path_);
    static_cast<void>(writer.save_trial(make_spec(2), make_outcome()));
    _exit(0);  // without closing: the log stays
  });
  ASSERT_EQ(wait_for(pid), 0);
  ASSERT_TRUE(fs::exists(path_.string() + "-wal"));
  lock();
  const int count = counted(path_);
  if (count == kSkipped) GTEST_SKIP() << "cannot give up root's rights here";
  EXPECT_EQ(count, 2);
  chmod(folder_.path().c_str(), 0755);
  fs::remove(path_.string() + "-shm");
  lock();
  EXPECT_EQ(counted(path_, "once as its owner"), kRefused);
}

TEST_F(Reading, refuses_an_older_schema_that_it_cannot_migrate) {
  ASSERT_TRUE((*Connection::open(path_, std::chrono::seconds(1)))->execute("PRAGMA user_version = 1"));
  lock();
  const int count = counted(path_, "schema 1");
  if (count == kSkipped) GTEST_SKIP() << "cannot give up root's rights here";
  EXPECT_EQ(count, kRefused);
}

TEST_F(Reading, makes_no_file) {
  auto store = *Store::open(folder_ / "none.db", kRead);
  EXPECT_FALSE(*store.find_trial("none"));
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace ridgeline::store
