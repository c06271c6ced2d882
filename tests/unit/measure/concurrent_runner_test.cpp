// SPDX-License-Identifier: Apache-2.0
#include "measure/concurrent_runner.hpp"

#include <array>
#include <cstdlib>
#include <new>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/fake_workload.hpp"

namespace {
std::atomic<std::int64_t> g_allocations{0};
}  // namespace

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored \
    "-Wmismatched-new-delete"  // the replacements below do match, once inlined GCC sees but one
#endif
// Counts every allocation of this test program.
void* operator new(std::size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {  // a sanitizer's would not come here
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size > 0 ? size : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace ridgeline::measure {
namespace {

using fakes::FakeWorkload;

std::unique_ptr<ConcurrentRunner> runner_for(FakeWorkload& workload, MeasureControl& control,
                                             std::int64_t capacity = 1000) {
  auto runner = ConcurrentRunner::make(workload, control, capacity);
  EXPECT_TRUE(runner) << runner.error().message;
  return std::move(*runner);
}

TEST(ConcurrentRunner, times_each_inference_of_one_caller) {
  FakeWorkload workload([](int, std::int64_t index) { return 100.0 + static_cast<double>(index); });
  MeasureControl control;
  const auto runner = runner_for(workload, control);
  ASSERT_TRUE(runner->run({5, 1, std::nullopt}));
  std::vector<double> latencies;
  runner->append_latencies(latencies);
  EXPECT_EQ(latencies, (std::vector<double>{100, 101, 102, 103, 104}));
  EXPECT_EQ(runner->elapsed().count(), 510);
  EXPECT_EQ(runner->slowest_first_ns(), 100);
  runner->add_to_window();
  EXPECT_DOUBLE_EQ(runner->window_ns(), 510);
  EXPECT_EQ(control.steps.load(), 5);
}

TEST(ConcurrentRunner, ends_a_round_by_time_but_not_below_the_least_count) {
  FakeWorkload workload([](int, std::int64_t) { return 100.0; });
  MeasureControl control;
  const auto runner = runner_for(workload, control);
  ASSERT_TRUE(runner->run({1000, 1, base::Nanoseconds(950)}));
  EXPECT_EQ(runner->counted_per_caller(), 10);
  ASSERT_TRUE(runner->run({1000, 3, base::Nanoseconds(0)}));
  EXPECT_EQ(runner->counted_per_caller(), 3);
}

TEST(ConcurrentRunner, stops_at_a_full_buffer) {
  FakeWorkload workload([](int, std::int64_t) { return 100.0; });
  MeasureControl control;
  const auto runner = runner_for(workload, control, 16);
  ASSERT_TRUE(runner->run({1000, 1, std::nullopt}));
  EXPECT_EQ(runner->counted_per_caller(), 16);
}

TEST(ConcurrentRunner, adds_the_rates_of_virtual_callers_and_repeats_itself) {
  std::vector<double> first;
  for (int repeat = 0; repeat < 2; ++repeat) {
    FakeWorkload workload([](int caller, std::int64_t) { return caller == 0 ? 1000.0 : 2000.0; }, 2);
    MeasureControl control;
    const auto runner = runner_for(workload, control);
    ASSERT_TRUE(runner->run({10, 1, std::nullopt}));
    std::vector<double> latencies;
    runner->append_latencies(latencies);
    ASSERT_EQ(latencies.size(), 20U);
    EXPECT_EQ(latencies[0], 1000);  // by completion: at 1000, 2000, 2000, 3000 ...
    EXPECT_EQ(latencies[1] + latencies[2], 3000);
    runner->add_to_window();
    // 1 and 0.5 inferences a microsecond: 20 of them in 13.3 us.
    EXPECT_NEAR(runner->window_ns(), 20 / 0.0015, 1e-6);
    if (repeat == 0)
      first = latencies;
    else
      EXPECT_EQ(latencies, first);
  }
}

TEST(ConcurrentRunner, keeps_fast_callers_busy_until_the_slowest_is_done) {
  FakeWorkload workload([](int caller, std::int64_t) { return caller == 1 ? 2e6 : 2e5; }, 3);
  workload.real_time = true;
  std::array<std::atomic<std::thread::id>, 3> threads{};
  std::atomic<bool> moved{false};
  workload.on_step = [&](int caller, std::int64_t index) {
    auto& known = threads[static_cast<std::size_t>(caller)];
    if (index == 0) known = std::this_thread::get_id();
    if (known.load() != std::this_thread::get_id()) moved = true;
  };
  MeasureControl control;
  const auto runner = runner_for(workload, control);
  for (int round = 1; round <= 2; ++round) {
    ASSERT_TRUE(runner->run({10, 1, std::nullopt}));
    EXPECT_EQ(workload.steps[1].load(), 10 * round);
    EXPECT_GT(workload.steps[0].load(), 12 * round);  // at an idle machine about 70
    EXPECT_GT(workload.steps[2].load(), 12 * round);
    EXPECT_EQ(runner->counted_per_caller(), 10);
    std::vector<double> latencies;
    runner->append_latencies(latencies);
    EXPECT_EQ(latencies.size(), 30U);  // at most the limit of each caller
  }
  EXPECT_EQ(threads[0].load(), std::this_thread::get_id());
  EXPECT_NE(threads[1].load(), threads[2].load());
  EXPECT_FALSE(moved.load());
}

TEST(ConcurrentRunner, starts_all_callers_together) {
  FakeWorkload workload([](int, std::int64_t) { return 1e6; }, 4);
  workload.real_time = true;
  std::array<std::atomic<std::int64_t>, 4> entered{};
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  workload.on_step = [&](int caller, std::int64_t index) {
    if (index != 0) return;
    // Nobody may take a step before all are at the start line; the first step waits to see the others come.
    inside.fetch_add(1);
    entered[static_cast<std::size_t>(caller)] = base::system_clock().now().count();
    const auto deadline = base::system_clock().now() + std::chrono::seconds(5);
    while (inside.load() < 4 && base::system_clock().now() < deadline) std::this_thread::yield();
    most = std::max(most.load(), inside.load());
  };
  MeasureControl control;
  const auto runner = runner_for(workload, control);
  ASSERT_TRUE(runner->run({2, 1, std::nullopt}));
  EXPECT_EQ(most.load(), 4);
  const auto [first, last] = std::minmax({entered[0].load(), entered[1].load(), entered[2].load(), entered[3].load()});
  EXPECT_LT(last - first, 500'000'000);
}

TEST(ConcurrentRunner, allocates_nothing_while_it_times) {
  for (const int concurrency : {1, 3}) {
    FakeWorkload workload([](int, std::int64_t) { return 1e4; }, concurrency);
    workload.real_time = concurrency > 1;
    std::atomic<std::int64_t> at_start{-1};
    std::atomic<std::int64_t> at_end{-1};
    workload.on_step = [&](int caller, std::int64_t index) {
      if (caller != 0) return;
      if (index == 0) at_start = g_allocations.load();
      at_end = g_allocations.load();
    };
    MeasureControl control;
    const auto runner = runner_for(workload, control, 1000);
    ASSERT_TRUE(runner->run({200, 1, std::nullopt}));
    EXPECT_GE(workload.steps[0].load(), 200);
    EXPECT_GE(at_start.load(), 0);
    EXPECT_EQ(at_end.load(), at_start.load()) << concurrency;
  }
}

TEST(ConcurrentRunner, returns_the_failing_callers_error_and_stops_the_others) {
  for (const bool real_time : {false, true}) {
    FakeWorkload workload([](int, std::int64_t) { return 1e5; }, 3);
    workload.real_time = real_time;
    workload.failing_caller = 2;
    workload.fail_at = 4;
    MeasureControl control;
    const auto runner = runner_for(workload, control, 100000);
    const auto done = runner->run({40000, 1, std::chrono::seconds(2)});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, base::ErrorCode::out_of_memory);
    EXPECT_EQ(done.error().message, "caller 2 ran out of memory");
    if (real_time) {
      EXPECT_LT(workload.steps[0].load(), 10000);
    }
  }
}

TEST(ConcurrentRunner, obeys_a_cancellation_from_another_thread) {
  FakeWorkload workload([](int, std::int64_t) { return 1e5; }, 2);
  workload.real_time = true;
  MeasureControl control;
  workload.on_step = [&](int caller, std::int64_t index) {
    if (caller == 1 && index == 5) control.cancel = true;
  };
  const auto runner = runner_for(workload, control, 200000);
  ASSERT_TRUE(runner->run({100000, 1, std::chrono::seconds(5)}));
  EXPECT_LE(workload.steps[1].load(), 7);
}

TEST(ConcurrentRunner, each_caller_enters_its_own_thread_once_before_any_steps_and_never_beside_another) {
  FakeWorkload workload([](int, std::int64_t) { return 1e4; }, 4);
  workload.real_time = true;
  std::atomic<int> inside{0};
  std::atomic<int> together{0};
  std::array<std::thread::id, 4> entered{};
  std::array<std::thread::id, 4> stepped{};
  workload.on_enter = [&](int caller) {
    if (++inside > 1) ++together;
    for (const auto& steps : workload.steps)
      if (steps.load() > 0) ++together;
    entered[static_cast<std::size_t>(caller)] = std::this_thread::get_id();
    base::system_clock().sleep_for(std::chrono::milliseconds(2));
    --inside;
    return true;
  };
  workload.on_step = [&](int caller, std::int64_t) {
    stepped[static_cast<std::size_t>(caller)] = std::this_thread::get_id();
  };
  MeasureControl control;
  const auto runner = runner_for(workload, control, 1000);
  ASSERT_TRUE(runner->run({20, 1, std::nullopt}));
  EXPECT_EQ(together.load(), 0);
  EXPECT_EQ(entered, stepped);
  EXPECT_EQ(std::set(entered.begin(), entered.end()).size(), 4U);
  workload.on_enter = [](int) { return false; };
  EXPECT_TRUE(runner->run({20, 1, std::nullopt})) << "entered again";
}

TEST(ConcurrentRunner, a_caller_that_cannot_enter_its_thread_ends_the_round) {
  for (const bool real_time : {false, true}) {
    FakeWorkload workload([](int, std::int64_t) { return 1e4; }, 3);
    workload.real_time = real_time;
    workload.on_enter = [](int caller) { return caller != 2; };
    MeasureControl control;
    const auto done = runner_for(workload, control, 1000)->run({20, 1, std::nullopt});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "caller 2 ran out of memory");
    EXPECT_EQ(workload.steps[0].load(), 0);
  }
}

}  // namespace
}  // namespace ridgeline::measure
