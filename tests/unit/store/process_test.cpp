// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <array>
#include <iostream>

#include <gtest/gtest.h>

#include "child_process.hpp"
#include "sample_records.hpp"
#include "store/sqlite.hpp"

namespace ridgeline::store {
namespace {

std::string integrity_of(const std::filesystem::path& path) {
  const auto connection = Connection::open(path, std::chrono::seconds(5));
  if (!connection) return base::error_line(connection.error());
  const auto answer = (*connection)->query_text("PRAGMA integrity_check");
  return answer ? *answer : base::error_line(answer.error());
}

TEST(StoreProcesses, create_and_write_one_file_at_once) {
  const TempFolder folder;
  const auto path = folder / "r.db";
  constexpr int kTrials = 60;
  const auto write_from = [&](int first) {
    auto store = Store::open(path);
    if (!store) {
      std::cerr << store.error().message << "\n";
      return 1;
    }
    for (int number = first; number < first + kTrials; ++number) {
      const auto saved = store->save_trial(make_spec(number), make_outcome(300));
      const auto shared = store->save_trial(make_spec(-1), make_outcome(static_cast<std::size_t>(number)));
      if (!saved || !shared) {
        std::cerr << (saved ? shared : saved).error().message << "\n";
        return 2;
      }
    }
    return store->save_run(schema::to_run(make_run(fmt::format("run-{}", first), "2026-11-21T08:15:00Z"))) ? 0 : 3;
  };
  std::array<pid_t, 3> children{};
  for (std::size_t i = 0; i < children.size(); ++i)
    children[i] = start_child([&] { return write_from(static_cast<int>(i) * 1000); });
  for (const auto child : children) EXPECT_EQ(wait_for(child), 0);
  auto store = *Store::open(path);
  EXPECT_EQ(count_trials(store), children.size() * kTrials + 1);
  EXPECT_EQ(store.list_runs(10)->size(), children.size());
  EXPECT_EQ(integrity_of(path), "ok");
}

TEST(StoreProcesses, lose_nothing_committed_when_killed) {
  const TempFolder folder;
  const auto path = folder / "r.db";
  int next = 0;
  for (const int kill_after : {1, 7, 25}) {
    std::array<int, 2> channel{};
    ASSERT_EQ(pipe(channel.data()), 0);
    const auto child = start_child([&] {
      auto store = Store::open(path);
      if (!store) return 1;
      for (int number = next;; ++number) {
        if (!store->save_trial(make_spec(number), make_outcome(3000))) return 2;
        if (write(channel[1], &number, sizeof number) != sizeof number) return 3;
      }
    });
    close(channel[1]);
    int last = -1;
    for (int seen = 0; seen < kill_after; ++seen)
      ASSERT_EQ(read(channel[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
    ASSERT_EQ(kill(child, SIGKILL), 0);  // most likely inside the next save
    EXPECT_EQ(wait_for(child), -SIGKILL);
    for (int number = 0; read(channel[0], &number, sizeof number) == static_cast<ssize_t>(sizeof number);)
      last = number;
    close(channel[0]);

    auto store = Store::open(path);
    ASSERT_TRUE(store) << store.error().message;
    for (int number = 0; number <= last; ++number) {
      const auto found = store->find_trial(make_spec(number).key());
      ASSERT_TRUE(found) << found.error().message;
      ASSERT_TRUE(*found) << number;
      EXPECT_EQ((*found)->outcome.measurement->latency_ns.size(), 3000U);
    }
    EXPECT_EQ(integrity_of(path), "ok");
    // At most the one whose message was lost is there besides.
    EXPECT_LE(count_trials(*store), static_cast<std::size_t>(last) + 2);
    next = last + 1;
  }
}

}  // namespace
}  // namespace ridgeline::store
