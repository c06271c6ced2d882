// SPDX-License-Identifier: Apache-2.0
#include "store/migration.hpp"

#include <array>

#include <gtest/gtest.h>

#include "sample_records.hpp"
#include "schema/sweep.hpp"

namespace ridgeline::store {
namespace {

constexpr Migration kFirst{1, "CREATE TABLE words (word TEXT NOT NULL) STRICT; INSERT INTO words VALUES ('kept')"};
constexpr Migration kSecond{
    2, "ALTER TABLE words ADD COLUMN length INTEGER NOT NULL DEFAULT 0; UPDATE words SET length = length(word)"};
constexpr Migration kBroken{3, "CREATE TABLE half (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1)"};

std::unique_ptr<Connection> open_file(const TempFolder& folder) {
  return std::move(*Connection::open(folder / "m.db", std::chrono::seconds(1)));
}

TEST(Migration, has_a_step_for_every_version) {
  int expected = 1;
  for (const auto& step : migrations()) EXPECT_EQ(step.to, expected++);
}

TEST(Migration, brings_an_older_file_up_to_date_and_keeps_its_rows) {
  const TempFolder folder;
  const auto connection = open_file(folder);
  ASSERT_TRUE(migrate(*connection, {}, std::array{kFirst}));
  EXPECT_EQ(*connection->query_integer("PRAGMA user_version"), 1);
  EXPECT_EQ(*connection->query_text("PRAGMA journal_mode"), "wal");
  ASSERT_TRUE(migrate(*connection, {}, std::array{kFirst, kSecond}));
  EXPECT_EQ(*connection->query_integer("PRAGMA user_version"), 2);
  EXPECT_EQ(*connection->query_text("SELECT word || length FROM words"), "kept4");
  ASSERT_TRUE(migrate(*connection, {}, std::array{kFirst, kSecond}));  // nothing left to do
  EXPECT_EQ(*connection->query_integer("SELECT count(*) FROM words"), 1);
}

TEST(Migration, makes_the_newest_schema_in_an_empty_file_at_once) {
  const TempFolder folder;
  const auto connection = open_file(folder);
  constexpr Migration kLast{3, "no SQL", nullptr, "CREATE TABLE words (word TEXT NOT NULL) STRICT"};
  ASSERT_TRUE(migrate(*connection, {}, std::array{kFirst, kSecond, kLast}));
  EXPECT_EQ(*connection->query_integer("PRAGMA user_version"), 3);
  EXPECT_EQ(*connection->query_integer("SELECT count(*) FROM words"), 0);
}

TEST(Migration, keeps_the_older_file_beside_it) {
  const TempFolder folder;
  const auto connection = open_file(folder);
  ASSERT_TRUE(migrate(*connection, {}, std::array{kFirst}));
  EXPECT_FALSE(std::filesystem::exists(folder / "m.db.schema1"));
  ASSERT_TRUE(migrate(*connection, {}, std::array{kFirst, kSecond}));
  const auto copy = std::move(*Connection::open(folder / "m.db.schema1", std::chrono::seconds(1)));
  EXPECT_EQ(*copy->query_integer("PRAGMA user_version"), 1);
  EXPECT_EQ(*copy->query_text("SELECT word FROM words"), "kept");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 4) << "database, log, index, copy";
}

// Written by commit 64c6e21.
TEST(Migration, moves_the_runs_and_trials_of_schema_3_into_one_table_each) {
  const TempFolder folder;
  std::filesystem::copy_file(std::filesystem::path(RL_TEST_DATA) / "results" / "schema3.db", folder / "m.db");
  std::filesystem::permissions(folder / "m.db", std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  const auto old = std::move(*Connection::open(folder / "m.db", std::chrono::seconds(1)));
  const auto trials = *old->query_integer("SELECT count(*) FROM trials");
  const auto pairs = *old->query_integer("SELECT count(*) FROM pairs");
  const auto blocks = *old->query_integer("SELECT count(*) FROM pair_samples");
  const auto others =
      *old->query_integer("SELECT (SELECT count(*) FROM training_trials) + (SELECT count(*) FROM sweep_trials)");
  auto store = std::move(*Store::open(folder / "m.db"));
  EXPECT_EQ(*old->query_integer("SELECT count(*) FROM trials"), trials + pairs + others);
  EXPECT_EQ(
      *old->query_integer("SELECT count(*) FROM samples WHERE key IN (SELECT key FROM trials WHERE kind = 'pair')"),
      blocks);
  EXPECT_EQ(*old->query_integer("SELECT count(*) FROM sqlite_master WHERE type = 'table'"), 5);
  EXPECT_EQ(*old->query_integer("SELECT count(*) FROM pragma_foreign_key_check"), 0);
  const auto runs = *store.list_runs(100);
  ASSERT_EQ(runs.size(), 11U);
  for (const auto& summary : runs) {
    const auto run = store.load_run(summary.id);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->kind, summary.kind);
    for (const auto& trial : run->trials) {
      const auto stored = store.find_record(trial.key);
      ASSERT_TRUE(stored) << stored.error().message;
      EXPECT_TRUE(*stored || summary.kind != "tune") << summary.id << "/" << trial.id << ": refused ones are not kept";
    }
  }
  const auto tuned = store.load<schema::TuneRun>("20261125-132900-6108");
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_EQ(tuned->request.config_path, "/tmp/ridgeline-results/config.yaml");
  EXPECT_EQ(tuned->request.accuracy_tolerance, 0.01);
  EXPECT_EQ(tuned->request.seed, 2U);
  const auto swept = store.load<schema::SweepRun>("20261125-132904-75c9");
  ASSERT_TRUE(swept) << swept.error().message;
  EXPECT_EQ(swept->request.arguments.back(), "{s}");
  EXPECT_FALSE(swept->request.job.command.empty());
  EXPECT_TRUE(std::filesystem::exists(folder / "m.db.schema3"));
}

TEST(Migration, a_run_whose_record_is_damaged_stays_in_the_list) {
  const TempFolder folder;
  std::filesystem::copy_file(std::filesystem::path(RL_TEST_DATA) / "results" / "schema3.db", folder / "m.db");
  std::filesystem::permissions(folder / "m.db", std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  const auto id = *open_file(folder)->query_text("SELECT id FROM sweep_runs LIMIT 1");
  ASSERT_TRUE(open_file(folder)->execute("UPDATE sweep_run_records SET record = '{broken' WHERE id = '" + id + "'"));
  auto store = std::move(*Store::open(folder / "m.db"));
  EXPECT_EQ(store.list_runs(100)->size(), 11U);
  const auto run = store.load_run(id);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, base::ErrorCode::corrupt);
}

TEST(Migration, undoes_a_step_that_fails) {
  const TempFolder folder;
  const auto connection = open_file(folder);
  EXPECT_FALSE(migrate(*connection, {}, std::array{kFirst, kSecond, kBroken}));
  EXPECT_EQ(*connection->query_integer("PRAGMA user_version"), 2);
  EXPECT_EQ(*connection->query_integer("SELECT count(*) FROM sqlite_master WHERE name = 'half'"), 0);
  EXPECT_TRUE(connection->begin());  // no transaction is left open
}

TEST(Migration, refuses_a_newer_file_and_says_which) {
  const TempFolder folder;
  ASSERT_TRUE(Store::open(folder / "m.db"));
  ASSERT_TRUE(open_file(folder)->execute("PRAGMA user_version = 99"));
  const auto store = Store::open(folder / "m.db");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, base::ErrorCode::unsupported);
  EXPECT_NE(store.error().message.find("schema 99, this one knows up to"), std::string::npos) << store.error().message;
}

TEST(Migration, refuses_another_programs_database_and_leaves_it_alone) {
  const TempFolder folder;
  ASSERT_TRUE(open_file(folder)->execute("CREATE TABLE theirs (x INTEGER)"));
  const auto store = Store::open(folder / "m.db");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, base::ErrorCode::corrupt);
  const auto connection = open_file(folder);
  EXPECT_EQ(*connection->query_text("PRAGMA journal_mode"), "delete");
  EXPECT_EQ(*connection->query_integer("SELECT count(*) FROM sqlite_master"), 1);
}

}  // namespace
}  // namespace ridgeline::store
