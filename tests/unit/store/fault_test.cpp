// SPDX-License-Identifier: Apache-2.0
// Everything that a file system can do to a database ends in one clear Error.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <iostream>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "child_process.hpp"
#include "sample_records.hpp"
#include "store/sqlite.hpp"

namespace ridgeline::store {
namespace {

using base::ErrorCode;

void expect_open_fails(const std::filesystem::path& path, ErrorCode code, const std::string& words) {
  const auto store = Store::open(path, {std::chrono::milliseconds(50)});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, code) << store.error().message;
  EXPECT_NE(store.error().message.find(words), std::string::npos) << store.error().message;
  EXPECT_NE(store.error().message.find(path.string()), std::string::npos) << store.error().message;
  EXPECT_EQ(store.error().message.find('\n'), std::string::npos);
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// For a child: 0 when opening fails with `code`, else the difference on stderr. Drops root's right to ignore modes.
int open_without_rights(const std::filesystem::path& path, ErrorCode code) {
  if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return kSkipped;
  const auto store = Store::open(path, {std::chrono::milliseconds(50)});
  if (store) {
    std::cerr << "opened\n";
    return 1;
  }
  if (store.error().code == code && store.error().message.find(path.string()) != std::string::npos) return 0;
  std::cerr << store.error().message << "\n";
  return 2;
}

/// Saves trials until one fails. 0 when that failure is an io error with `words` and the earlier ones are still there.
int fill_up(const std::filesystem::path& path, const std::string& words) {
  auto store = Store::open(path);
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  for (int number = 0; number < 10000; ++number) {
    const auto saved = store->save_trial(make_spec(number), make_outcome(2000));
    if (saved) continue;
    if (saved.error().code != ErrorCode::io || saved.error().message.find(words) == std::string::npos) {
      std::cerr << saved.error().message << "\n";
      return 2;
    }
    if (number == 0) return 3;
    const auto earlier = store->find_trial(make_spec(number - 1).key());
    return earlier && *earlier && !*store->find_trial(make_spec(number).key()) ? 0 : 4;
  }
  return 5;
}

TEST(StoreFault, refuses_a_file_that_is_no_database_and_leaves_it_alone) {
  const TempFolder folder;
  for (const std::size_t length : {5000, 99, 1}) {
    const std::string text(length, 'x');
    write_file(folder / "notes.txt", text);
    expect_open_fails(folder / "notes.txt", ErrorCode::corrupt, "is not a database");
    EXPECT_EQ(*base::read_file(folder / "notes.txt"), text);
    EXPECT_FALSE(std::filesystem::exists(folder / "notes.txt-wal"));
  }
}

TEST(StoreFault, takes_an_empty_file_for_a_new_database) {
  const TempFolder folder;
  write_file(folder / "new.db", "");
  EXPECT_TRUE(Store::open(folder / "new.db"));
}

TEST(StoreFault, refuses_a_folder_and_a_path_through_a_file) {
  const TempFolder folder;
  expect_open_fails(folder.path(), ErrorCode::io, "is a directory");
  write_file(folder / "file", "x");
  expect_open_fails(folder / "file/ridgeline.db", ErrorCode::io, "cannot create the folder");
}

TEST(StoreFault, reports_damage_where_it_is_met) {
  const TempFolder folder;
  const auto path = folder / "r.db";
  {
    auto store = *Store::open(path);
    for (int number = 0; number < 200; ++number) ASSERT_TRUE(store.save_trial(make_spec(number), make_outcome(500)));
  }
  auto bytes = *base::read_file(path);
  ASSERT_GT(bytes.size(), 100000U);
  std::fill(bytes.begin() + 8192, bytes.end() - 8192, '\x5a');  // the schema stays readable
  write_file(path, bytes);
  auto store = Store::open(path);
  base::Error error{ErrorCode::internal, "nothing was reported"};
  if (!store) {
    error = store.error();
  } else {
    for (int number = 0; number < 200; ++number)
      if (const auto found = store->find_trial(make_spec(number).key()); !found) error = found.error();
  }
  EXPECT_EQ(error.code, ErrorCode::corrupt) << error.message;
  EXPECT_NE(error.message.find(path.string()), std::string::npos) << error.message;
}

TEST(StoreFault, names_a_file_that_another_process_holds) {
  const TempFolder folder;
  const auto path = folder / "r.db";
  auto store = *Store::open(path, {std::chrono::milliseconds(50)});
  ASSERT_TRUE(store.save_trial(make_spec(2), make_outcome()));
  const auto holder = *Connection::open(path, std::chrono::seconds(1));
  {
    const auto lock = holder->begin();
    ASSERT_TRUE(lock);
    const auto saved = store.save_trial(make_spec(1), make_outcome());
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code, ErrorCode::unavailable);
    EXPECT_NE(saved.error().message.find(path.string() + " has been locked by another process for more than 0.05 s"),
              std::string::npos)
        << saved.error().message;
    EXPECT_EQ(count_trials(store), 1U);  // readers are not held up
  }
  EXPECT_TRUE(store.save_trial(make_spec(1), make_outcome()));
}

TEST(StoreFault, says_that_a_folder_or_file_is_read_only) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "locked");
  ASSERT_TRUE(Store::open(folder / "locked/old.db"));
  chmod((folder / "locked/old.db").c_str(), 0444);
  chmod((folder / "locked").c_str(), 0555);
  chmod(folder.path().c_str(), 0755);
  for (const char* name : {"locked/new.db", "locked/old.db", "locked/sub/new.db"}) {
    const int code = wait_for(start_child([&] { return open_without_rights(folder / name, ErrorCode::io); }));
    if (code == kSkipped) GTEST_SKIP() << "cannot give up root's rights here";
    EXPECT_EQ(code, 0) << name;
  }
  chmod((folder / "locked").c_str(), 0755);
}

TEST(StoreFault, reports_a_file_size_limit_and_keeps_what_was_saved) {
  const TempFolder folder;
  const int code = wait_for(start_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{300000, 300000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return kSkipped;
    return fill_up(folder / "r.db", "cannot read or write");
  }));
  if (code == kSkipped) GTEST_SKIP() << "cannot limit file sizes here";
  EXPECT_EQ(code, 0);
}

TEST(StoreFault, reports_a_full_disk_and_keeps_what_was_saved) {
  const TempFolder folder;
  const int code = wait_for(start_child([&] {
    // A file system of half a megabyte that only this child sees.
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=512k") != 0)
      return kSkipped;
    return fill_up(folder / "r.db", "no space left");
  }));
  if (code == kSkipped) GTEST_SKIP() << "needs the right to mount a small file system";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace ridgeline::store
