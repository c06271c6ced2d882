// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"
#include "config/config_patch.hpp"
#include "config/file_swap.hpp"

namespace ridgeline::config {
namespace {

namespace fs = std::filesystem;

const schema::Configuration kFourThreads{{"intra_op_num_threads", 4}};
constexpr auto kUtc = "2026-11-21T08:15:00Z";
constexpr auto kBefore = "intra_op_num_threads: 8 # n\r\n";

class ApplyPatch : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ridgeline_apply_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = folder_ / "config.yaml";
    write(file_, kBefore);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static void write(const fs::path& path, std::string_view bytes) {
    ASSERT_TRUE(base::write_file_atomically(path, bytes));
  }
  static std::string bytes_of(const fs::path& path) { return base::read_file(path).value_or("(unreadable)"); }
  static unsigned mode_of(const fs::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
  }
  int files() const {
    return static_cast<int>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
  fs::path file_;
};

TEST_F(ApplyPatch, keeps_a_backup_and_permissions_and_rolls_back_exactly) {
  ASSERT_EQ(::chmod(file_.c_str(), 0640), 0);
  const auto applied = apply_patch(file_, kFourThreads, {}, kUtc);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(applied->backup, folder_ / "config.yaml.bak-20261121T081500Z");
  EXPECT_EQ(bytes_of(file_), "intra_op_num_threads: 4 # n\r\n");
  EXPECT_EQ(bytes_of(applied->backup), kBefore);
  EXPECT_EQ(mode_of(file_), 0640U);
  EXPECT_EQ(mode_of(applied->backup), 0640U);
  EXPECT_EQ(files(), 2);

  const auto restored = rollback(file_);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(*restored, applied->backup);
  EXPECT_EQ(bytes_of(file_), kBefore);
  EXPECT_EQ(mode_of(file_), 0640U);
  EXPECT_EQ(files(), 1);
  const auto nothing = rollback(file_);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, base::ErrorCode::not_found);
}

/// A service's settings, changed by root, must stay readable for the service.
TEST_F(ApplyPatch, keeps_the_owner_through_apply_backup_and_rollback) {
  constexpr uid_t kService = 65534;
  constexpr gid_t kGroup = 65533;
  if (::geteuid() != 0 || ::chown(file_.c_str(), kService, kGroup) != 0) GTEST_SKIP() << "needs the right to chown";
  ASSERT_EQ(::chmod(file_.c_str(), 0640), 0);
  const auto expect_as_before = [&](const fs::path& path) {
    struct stat now {};
    ASSERT_EQ(::stat(path.c_str(), &now), 0) << path;
    EXPECT_EQ(now.st_uid, kService) << path;
    EXPECT_EQ(now.st_gid, kGroup) << path;
    EXPECT_EQ(now.st_mode & 07777U, 0640U) << path;
  };
  const auto applied = apply_patch(file_, kFourThreads, {}, kUtc);
  ASSERT_TRUE(applied) << applied.error().message;
  expect_as_before(file_);
  expect_as_before(applied->backup);
  ASSERT_TRUE(rollback(file_));
  expect_as_before(file_);
}

TEST_F(ApplyPatch, touches_nothing_when_the_value_is_there_already) {
  const auto applied = apply_patch(file_, {{"intra_op_num_threads", 8}}, {}, kUtc);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_TRUE(applied->backup.empty());
  EXPECT_TRUE(applied->patch.edits.empty());
  EXPECT_EQ(files(), 1);
}

TEST_F(ApplyPatch, steps_back_through_backups_of_the_same_second) {
  for (const int threads : {1, 2, 3}) ASSERT_TRUE(apply_patch(file_, {{"intra_op_num_threads", threads}}, {}, kUtc));
  EXPECT_EQ(files(), 4);
  for (const auto* text : {"intra_op_num_threads: 2 # n\r\n", "intra_op_num_threads: 1 # n\r\n", kBefore}) {
    ASSERT_TRUE(rollback(file_));
    EXPECT_EQ(bytes_of(file_), text);
  }
}

TEST_F(ApplyPatch, edits_the_target_of_a_symbolic_link) {
  fs::create_directory(folder_ / "real");
  fs::rename(file_, folder_ / "real" / "c.yaml");
  fs::create_symlink("real/c.yaml", file_);
  const auto applied = apply_patch(file_, kFourThreads, {}, kUtc);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_TRUE(fs::is_symlink(file_));
  EXPECT_EQ(applied->backup.parent_path(), fs::canonical(folder_ / "real"));
  EXPECT_EQ(bytes_of(folder_ / "real" / "c.yaml"), "intra_op_num_threads: 4 # n\r\n");
  ASSERT_TRUE(rollback(file_));
  EXPECT_TRUE(fs::is_symlink(file_));
  EXPECT_EQ(bytes_of(file_), kBefore);
}

TEST_F(ApplyPatch, a_bad_file_stays_as_it_is) {
  write(file_, "a: [1\n");
  const auto applied = apply_patch(file_, kFourThreads, {}, kUtc);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(bytes_of(file_), "a: [1\n");
  EXPECT_EQ(files(), 1);
}

TEST_F(ApplyPatch, refuses_a_file_that_someone_changed_since_it_was_read) {
  const auto swapped = swap_with_backup(file_, "what was read earlier\n", "new\n", kUtc);
  ASSERT_FALSE(swapped);
  EXPECT_NE(swapped.error().message.find("was changed by someone else"), std::string::npos);
  EXPECT_EQ(bytes_of(file_), kBefore);
  EXPECT_EQ(files(), 1) << "no backup is left behind";
}

TEST_F(ApplyPatch, a_rollback_ignores_backups_of_other_files) {
  write(folder_ / "config.yaml.backup", "x");
  write(folder_ / "other.yaml.bak-20270101T000000Z", "x");
  EXPECT_FALSE(rollback(file_));
}

TEST_F(ApplyPatch, a_rollback_does_not_lose_edits_made_after_the_change_unless_told_to) {
  ASSERT_TRUE(apply_patch(file_, kFourThreads, {}, kUtc));
  const auto edited = bytes_of(file_) + "port: 8080\n";
  write(file_, edited);
  const auto refused = rollback(file_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(refused.error().message.find("config.yaml.bak-20261121T081500Z"), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().hint.find("--yes"), std::string::npos) << refused.error().hint;
  EXPECT_EQ(bytes_of(file_), edited);
  EXPECT_EQ(files(), 2);
  ASSERT_TRUE(rollback(file_, LaterEdits::lose));
  EXPECT_EQ(bytes_of(file_), kBefore);
  EXPECT_EQ(files(), 1);
}

TEST_F(ApplyPatch, edits_between_two_changes_are_kept_by_the_first_step_back_and_guarded_from_the_second) {
  ASSERT_TRUE(apply_patch(file_, kFourThreads, {}, kUtc));
  const auto edited = bytes_of(file_) + "port: 8080\n";
  write(file_, edited);
  ASSERT_TRUE(apply_patch(file_, {{"intra_op_num_threads", 2}}, {}, "2026-11-21T09:00:00Z"));
  ASSERT_TRUE(rollback(file_));
  EXPECT_EQ(bytes_of(file_), edited);
  EXPECT_FALSE(rollback(file_));
  EXPECT_EQ(bytes_of(file_), edited);
}

TEST_F(ApplyPatch, check_patchable_says_what_is_wrong_and_what_to_do) {
  const auto error = [](const fs::path& path) {
    const auto checked = check_patchable(path);
    return checked ? std::string("no error") : base::error_line(checked.error());
  };
  EXPECT_EQ(error(file_), "no error");
  EXPECT_EQ(error(folder_ / "none.yaml"),
            fmt::format("config file {} does not exist; create it (it may be empty), or name another "
                        "with --config",
                        (folder_ / "none.yaml").string()));
  EXPECT_NE(error(folder_).find("is a directory; name the YAML file in it"), std::string::npos);
  fs::create_symlink("gone.yaml", folder_ / "dangling.yaml");
  EXPECT_NE(error(folder_ / "dangling.yaml").find("symbolic link to gone.yaml, which leads nowhere"),
            std::string::npos);
  fs::create_symlink("loop.yaml", folder_ / "loop.yaml");
  EXPECT_NE(error(folder_ / "loop.yaml"), "no error");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_NE(error(folder_ / "pipe").find("not a regular file"), std::string::npos);
  EXPECT_NE(error(file_ / "below.yaml"), "no error");
}

TEST_F(ApplyPatch, a_file_with_several_hard_links_stays_one_file) {
  const auto other = folder_ / "other.yaml";
  fs::create_hard_link(file_, other);
  const auto applied = apply_patch(file_, kFourThreads, {}, kUtc);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(bytes_of(other), "intra_op_num_threads: 4 # n\r\n");
  EXPECT_EQ(fs::hard_link_count(file_), 2U);
  EXPECT_EQ(bytes_of(applied->backup), kBefore);
  ASSERT_TRUE(rollback(file_));
  EXPECT_EQ(bytes_of(other), kBefore);
  EXPECT_EQ(fs::hard_link_count(file_), 2U);
  EXPECT_EQ(files(), 2);
}

/// As on a full disk: the new content is longer than what may be written.
TEST_F(ApplyPatch, what_cannot_be_written_whole_is_not_written_at_all) {
  for (const bool linked : {false, true}) {
    if (linked) fs::create_hard_link(file_, folder_ / "other.yaml");
    const auto before = files();
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    const rlimit small{100, old.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto swapped = swap_with_backup(file_, kBefore, std::string(4000, 'x'), kUtc);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
    std::signal(SIGXFSZ, handler);
    ASSERT_FALSE(swapped);
    EXPECT_EQ(swapped.error().code, base::ErrorCode::io);
    EXPECT_EQ(bytes_of(file_), kBefore);
    EXPECT_EQ(files(), before) << "no backup and no temporary file is left behind";
  }
}

TEST_F(ApplyPatch, the_newest_backup_counts_wherever_it_is) {
  ASSERT_EQ(::setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1), 0);
  const auto elsewhere = backup_prefixes(link_target(file_)).back();
  fs::create_directories(elsewhere.parent_path());
  write(folder_ / "config.yaml.bak-20261121T081500Z", "older\n");
  write(elsewhere.string() + "20261121T081501Z", "newer\n");
  const auto restored = rollback(file_, LaterEdits::lose);
  ::unsetenv("XDG_STATE_HOME");
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(bytes_of(file_), "newer\n");
  EXPECT_FALSE(fs::exists(*restored));
}

TEST_F(ApplyPatch, a_read_only_file_is_refused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  ASSERT_EQ(::chmod(file_.c_str(), 0444), 0);
  const auto file = check_patchable(file_);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("is not writable"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::config
