// SPDX-License-Identifier: Apache-2.0
#include "stream/pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "fakes/words.hpp"
#include "stream/load_feed.hpp"

namespace ridgeline::stream {
namespace {

using namespace std::chrono_literals;

/// Says of each picture which frame it is of: its first eight bytes.
class NumberRunner final : public BatchRunner {
 public:
  std::function<void(std::uint32_t worker, std::size_t frames)> before;
  std::atomic<std::uint64_t> batches{0};
  std::uint64_t fail_every = 0;  ///< 0: never

  std::function<void(std::uint32_t worker, std::uint32_t size)> on_size;
  std::function<void(std::span<const BatchFrame> frames)> on_frames;
  std::function<void(std::uint32_t worker)> left;
  std::function<void(std::uint32_t worker)> decode;  ///< what follows once the session was left

  void on_left(std::function<void(std::uint32_t worker)> given) override { left = std::move(given); }
  base::Result<BatchTimes> run(std::uint32_t worker, std::span<const BatchFrame> frames, std::uint32_t executed_size,
                               std::span<std::string> results) override {
    const auto number = ++batches;
    if (on_size) on_size(worker, executed_size);
    if (on_frames) on_frames(frames);
    if (before) before(worker, frames.size());
    if (fail_every != 0 && number % fail_every == 0)
      return base::fail(base::ErrorCode::internal, "batch {} failed", number);
    if (left) left(worker);
    if (decode) decode(worker);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      std::uint64_t frame = 0;
      std::memcpy(&frame, frames[i].image->bytes.data(), sizeof frame);
      results[i] = std::to_string(frame);
    }
    return BatchTimes{1, 2, 3};
  }
};

/// Counts what leaves, and whether it leaves in order and with its own result.
class CheckingSink final : public ResultSink {
 public:
  std::function<base::Result<void>()> before = [] { return base::Result<void>{}; };
  std::vector<std::uint64_t> next;
  std::uint64_t results = 0;
  std::array<std::uint64_t, kDropReasons> dropped{};
  std::uint64_t wrong = 0;
  std::string error;
  bool finished = false;

  base::Result<void> write(const FrameOutput& output) override {
    RL_TRY(before());
    const auto& frame = output.frame.frame;
    if (next.size() <= frame.source) next.resize(frame.source + 1, 0);
    if (frame.sequence != next[frame.source]++) ++wrong;
    if (output.frame.dropped) {
      ++dropped[static_cast<std::size_t>(*output.frame.dropped)];
      if (!output.result.empty()) ++wrong;
      if (!output.error.empty()) error = output.error;
    } else {
      ++results;
      if (output.result != std::to_string(frame.sequence * 16 + frame.source)) ++wrong;
    }
    return {};
  }
  base::Result<void> finish() override {
    finished = true;
    return {};
  }
  [[nodiscard]] std::uint64_t all() const {
    std::uint64_t sum = results;
    for (const auto count : dropped) sum += count;
    return sum;
  }
};

std::shared_ptr<const Image> numbered(std::uint64_t frame) {
  auto image = std::make_shared<Image>();
  image->width = 8;
  image->height = 1;
  image->format = PixelFormat::gray8;
  image->bytes.resize(8);
  std::memcpy(image->bytes.data(), &frame, sizeof frame);
  return image;
}

class PipelineTest : public testing::Test {
 protected:
  PipelineTest() {
    options_.dispatcher.workers = 2;
    options_.dispatcher.max_batch = 4;
    options_.dispatcher.capacity = 16;
    options_.dispatcher.drop_policy = DropPolicy::none;
    options_.warm_sizes = {1, 2, 4};
    options_.hand_over_ns = 0;
  }
  std::unique_ptr<Pipeline> start() {
    auto started = Pipeline::start(options_, runner_, sink_, *numbered(0));
    EXPECT_TRUE(started) << started.error().message;
    return started ? std::move(*started) : nullptr;
  }
  static NewFrame frame(std::uint32_t source, std::uint64_t sequence) {
    return {source, numbered(sequence * 16 + source), static_cast<std::int64_t>(sequence) * 1'000'000, {}, true};
  }

  PipelineOptions options_;
  NumberRunner runner_;
  CheckingSink sink_;
};

TEST_F(PipelineTest, sizes_that_are_dear_to_change_are_padded_to_the_largest) {
  options_.warm_sizes = {1, 4};
  std::mutex guard;
  std::array<std::uint32_t, 2> before{};
  std::vector<std::uint32_t> executed;
  runner_.on_size = [&](std::uint32_t worker, std::uint32_t size) {
    const bool changes = std::exchange(before.at(worker), size) != size;
    std::this_thread::sleep_for(changes ? 20ms : 1ms);
    const std::lock_guard lock(guard);
    executed.push_back(size);
  };
  auto pipeline = start();
  ASSERT_TRUE(pipeline->size_change_ns());
  EXPECT_GT(*pipeline->size_change_ns(), 10'000'000);
  executed.clear();
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(pipeline->offer(frame(0, i)), Offered::taken);
  pipeline->close(0);
  EXPECT_TRUE(pipeline->finish());
  EXPECT_FALSE(executed.empty());
  for (const auto size : executed) EXPECT_EQ(size, 4U);
  EXPECT_EQ(sink_.results, 8U);
  EXPECT_EQ(sink_.wrong, 0U);
}

TEST_F(PipelineTest, sizes_that_cost_nothing_to_change_stay_as_they_are) {
  runner_.before = [](std::uint32_t, std::size_t frames) { std::this_thread::sleep_for(frames * 2ms); };
  EXPECT_FALSE(start()->size_change_ns());
}

TEST_F(PipelineTest, frames_of_files_all_leave_in_order_with_their_own_results) {
  auto pipeline = start();
  std::vector<std::thread> sources;
  for (std::uint32_t source = 0; source < 3; ++source)
    sources.emplace_back([&, source] {
      for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_EQ(pipeline->offer(frame(source, i)), Offered::taken);
      pipeline->close(source);
    });
  for (auto& source : sources) source.join();
  ASSERT_TRUE(pipeline->finish());
  EXPECT_EQ(sink_.results, 6000U);
  EXPECT_EQ(sink_.all(), 6000U);
  EXPECT_EQ(sink_.wrong, 0U);
  EXPECT_TRUE(sink_.finished);
  const auto status = pipeline->status();
  EXPECT_EQ(status.meter.counters().delivered, 6000U);
  EXPECT_EQ(status.in_flight, 0U);
  EXPECT_EQ(status.written, 6000U);
  EXPECT_TRUE(status.meter.counts(0).passed);
  EXPECT_TRUE(status.meter.stage_sum().passed) << fakes::text_of(status.meter.stage_sum().message);
  EXPECT_EQ(pipeline->warm_up().size(), 3U);
  EXPECT_EQ(pipeline->warm_up()[1].times_ns.size(), 2 * options_.warm_runs);
  EXPECT_EQ(pipeline->offer(frame(0, 2000)), Offered::ended);
}

// The thread of the load copies no picture and waits for nobody: the pipeline stands still until all of it was issued.
TEST_F(PipelineTest, a_load_is_issued_by_reference_whatever_the_pipeline_does) {
  options_.dispatcher.drop_policy = DropPolicy::oldest;
  options_.dispatcher.capacity = 2;
  const Clip clip{numbered(0), numbered(1)};
  std::atomic<bool> issued{false};
  std::atomic<bool> waited{false};
  std::atomic<int> own{0};
  std::atomic<int> copies{0};
  runner_.on_frames = [&](std::span<const BatchFrame> frames) {
    if (frames.front().is_sample) return;
    for (const auto& one : frames) ++(one.image == clip[0].get() || one.image == clip[1].get() ? own : copies);
    for (int naps = 0; !issued && !waited; ++naps) {
      std::this_thread::sleep_for(1ms);
      if (naps > 20'000) waited = true;
    }
  };
  auto pipeline = start();
  std::vector<Arrival> schedule;
  for (std::uint64_t i = 0; i < 60; ++i) schedule.push_back({static_cast<std::int64_t>(i) * 100'000, 0, i});
  LatenessAudit audit(0);
  feed_load(schedule, {clip}, *pipeline, base::system_clock(), 100'000, audit);
  issued = true;
  EXPECT_TRUE(pipeline->finish());
  EXPECT_FALSE(waited);
  EXPECT_GT(own, 0);
  EXPECT_EQ(copies, 0);
  EXPECT_EQ(sink_.all(), 60U) << "issued, all of them";
  EXPECT_GT(sink_.dropped[static_cast<std::size_t>(DropReason::queue_full)], 0U);
}

TEST_F(PipelineTest, every_third_frame_of_each_source_is_run) {
  options_.every = 3;
  auto pipeline = start();
  for (std::uint32_t source = 0; source < 2; ++source) {
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(pipeline->offer(frame(source, i)), Offered::taken);
    pipeline->close(source);
  }
  ASSERT_TRUE(pipeline->finish());
  EXPECT_EQ(sink_.results, 68U);
  EXPECT_EQ(sink_.dropped[static_cast<std::size_t>(DropReason::skipped)], 132U);
  EXPECT_EQ(sink_.all(), 200U);
  EXPECT_EQ(sink_.wrong, 0U);
  EXPECT_TRUE(pipeline->status().meter.counts(0).passed);
}

TEST_F(PipelineTest, what_takes_less_than_waking_a_thread_runs_where_the_frame_comes_from) {
  options_.hand_over_ns = 1'000'000'000;
  std::atomic<std::uint64_t> taken{0};
  options_.on_taken = [&](std::uint32_t, std::uint64_t count) { taken = count; };
  auto pipeline = start();
  std::vector<std::thread::id> threads;
  std::mutex adding;
  runner_.before = [&](std::uint32_t, std::size_t) {
    const std::lock_guard lock(adding);
    threads.push_back(std::this_thread::get_id());
    EXPECT_EQ(taken, threads.size()) << "counted before it runs";
  };
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(pipeline->offer(frame(0, i)), Offered::taken);
  ASSERT_TRUE(pipeline->finish());
  EXPECT_EQ(sink_.results, 100U);
  EXPECT_EQ(sink_.wrong, 0U);
  EXPECT_EQ(threads, std::vector<std::thread::id>(100, std::this_thread::get_id()));
}

TEST_F(PipelineTest, threads_that_run_their_own_frames_do_not_disturb_each_other) {
  options_.hand_over_ns = 1'000'000'000;
  options_.dispatcher.max_batch = 1;
  options_.warm_sizes = {1};
  auto pipeline = start();
  runner_.fail_every = 7;
  std::vector<std::thread> sources;
  for (std::uint32_t source = 0; source < 4; ++source)
    sources.emplace_back([&, source] {
      for (std::uint64_t i = 0; i < 5000; ++i) ASSERT_EQ(pipeline->offer(frame(source, i)), Offered::taken);
      pipeline->close(source);
    });
  for (auto& source : sources) source.join();
  ASSERT_TRUE(pipeline->finish());
  EXPECT_EQ(sink_.all(), 20'000U);
  EXPECT_EQ(sink_.wrong, 0U);
}

// Workers that take random times, fail, and stand still; sources that cannot wait and have deadlines.
TEST_F(PipelineTest, a_million_frames_under_disturbance_are_each_counted_once_and_in_order) {
  constexpr std::uint32_t kSources = 4;
  constexpr std::uint64_t kFrames = 250'000;  // a source
  options_.dispatcher.workers = 3;
  options_.dispatcher.max_batch = 32;
  options_.dispatcher.capacity = 256;
  options_.dispatcher.drop_policy = DropPolicy::oldest;
  options_.warm_sizes = {1, 8, 32};
  options_.slo_ns = 3'000'000;
  runner_.fail_every = 97;
  runner_.before = [](std::uint32_t worker, std::size_t) {
    thread_local std::minstd_rand random(worker + 1);
    const auto drawn = random() % 400;
    if (drawn == 0)
      std::this_thread::sleep_for(12ms);
    else if (drawn < 20)
      std::this_thread::sleep_for(std::chrono::microseconds(drawn * 10));
    else if (drawn < 100)
      std::this_thread::yield();
  };
  auto pipeline = start();
  runner_.batches = 0;
  std::vector<std::thread> sources;
  for (std::uint32_t source = 0; source < kSources; ++source)
    sources.emplace_back([&, source] {
      for (std::uint64_t i = 0; i < kFrames; ++i) {
        auto next = frame(source, i);
        next.may_wait = source == 0;  // one file among cameras
        if (source > 0) next.due_ns = base::system_clock().now().count();
        if (source > 0 && i % 64 == 0) std::this_thread::yield();
        ASSERT_EQ(pipeline->offer(std::move(next)), Offered::taken);
      }
      pipeline->close(source);
    });
  for (auto& source : sources) source.join();
  ASSERT_TRUE(pipeline->finish());
  EXPECT_EQ(sink_.wrong, 0U);
  EXPECT_EQ(sink_.all(), kSources * kFrames);
  for (const auto next : sink_.next) EXPECT_EQ(next, kFrames);
  const auto dropped = [&](DropReason reason) { return sink_.dropped[static_cast<std::size_t>(reason)]; };
  EXPECT_GT(sink_.results, 1000U);
  EXPECT_GT(dropped(DropReason::queue_full), 0U);
  EXPECT_GT(dropped(DropReason::failed), 0U);
  EXPECT_GT(dropped(DropReason::deadline) + dropped(DropReason::timeout), 0U);
  EXPECT_NE(sink_.error.find("failed"), std::string::npos);
  const auto status = pipeline->status();
  EXPECT_EQ(status.meter.counters().offered, kSources * kFrames);
  EXPECT_TRUE(status.meter.counts(0).passed) << fakes::text_of(status.meter.counts(0).message);
}

TEST_F(PipelineTest, a_slow_sink_holds_files_back_and_memory_bounded) {
  options_.result_queue = 8;
  std::atomic<bool> go{false};
  sink_.before = [&]() -> base::Result<void> {
    while (!go) std::this_thread::sleep_for(1ms);
    return {};
  };
  auto pipeline = start();
  std::atomic<std::uint64_t> offered{0};
  std::thread source([&] {
    for (std::uint64_t i = 0; i < 500; ++i, ++offered) ASSERT_EQ(pipeline->offer(frame(0, i)), Offered::taken);
  });
  std::this_thread::sleep_for(100ms);
  // In the sink's queue and what was under way when it filled.
  EXPECT_LE(offered, 8 + options_.dispatcher.capacity + 4U * 2U * options_.dispatcher.max_batch);
  EXPECT_GT(pipeline->status().workers.sink_ns, 10'000'000);
  go = true;
  source.join();
  ASSERT_TRUE(pipeline->finish());
  EXPECT_EQ(sink_.results, 500U);
}

TEST_F(PipelineTest, a_sink_that_fails_ends_the_run_and_whoever_waits) {
  sink_.before = [&]() -> base::Result<void> {
    if (sink_.results == 10) return base::fail(base::ErrorCode::io, "out.jsonl: No space left on device");
    return {};
  };
  auto pipeline = start();
  std::uint64_t taken = 0;
  while (taken < 100'000 && pipeline->offer(frame(0, taken)) == Offered::taken) ++taken;
  EXPECT_LT(taken, 100'000U);
  const auto done = pipeline->finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "out.jsonl: No space left on device");
  EXPECT_FALSE(sink_.finished);
}

TEST_F(PipelineTest, a_model_that_always_fails_ends_the_run_with_its_words) {
  auto pipeline = start();
  runner_.fail_every = 1;
  std::uint64_t taken = 0;
  while (taken < 100'000 && pipeline->offer(frame(0, taken)) == Offered::taken) ++taken;
  const auto done = pipeline->finish();
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("20 inferences failed one after another"), std::string::npos);
  EXPECT_GE(pipeline->status().failures, 20U);
}

TEST_F(PipelineTest, a_model_that_fails_while_it_warms_up_is_no_pipeline) {
  runner_.fail_every = 1;
  const auto started = Pipeline::start(options_, runner_, sink_, *numbered(0));
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("failed"), std::string::npos);
}

TEST_F(PipelineTest, a_worker_is_warmed_on_the_thread_that_it_runs_on) {
  std::mutex mutex;
  std::array<std::set<std::thread::id>, 2> threads;
  runner_.before = [&](std::uint32_t worker, std::size_t) {
    const std::lock_guard lock(mutex);
    threads.at(worker).insert(std::this_thread::get_id());
  };
  auto pipeline = start();
  for (const auto& of_worker : threads) EXPECT_EQ(of_worker.size(), 1U);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(pipeline->offer(frame(0, i)), Offered::taken);
  ASSERT_TRUE(pipeline->finish());
  for (const auto& of_worker : threads) EXPECT_EQ(of_worker.size(), 1U);
  EXPECT_NE(threads[0], threads[1]);
}

TEST_F(PipelineTest, a_session_goes_on_while_the_batch_before_is_decoded) {
  options_.dispatcher.workers = 3;
  options_.dispatcher.max_batch = 1;
  options_.dispatcher.sessions = 1;
  options_.warm_sizes = {1};
  std::atomic<int> in_session{0};
  std::atomic<int> most_in_session{0};
  std::mutex mutex;
  std::vector<bool> warmed_first;
  runner_.before = [&](std::uint32_t worker, std::size_t) {
    {
      const std::lock_guard lock(mutex);
      warmed_first.push_back(worker == 0);
    }
    most_in_session = std::max<int>(most_in_session, ++in_session);
    std::this_thread::sleep_for(2ms);
    --in_session;
  };
  auto pipeline = start();
  EXPECT_TRUE(warmed_first.front() && std::ranges::is_sorted(warmed_first, std::greater<>()))
      << "the first worker, whose times count, has the session to itself";
  most_in_session = 0;
  std::atomic<int> decoding{0};
  std::atomic<bool> met{false};
  runner_.decode = [&](std::uint32_t) {
    ++decoding;
    // Two are decoded at once only if the second did not wait for the first.
    for (int i = 0; i < 1000 && !met; ++i) {
      if (decoding >= 2) met = true;
      std::this_thread::sleep_for(1ms);
    }
    --decoding;
  };
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_EQ(pipeline->offer(frame(0, i)), Offered::taken);
  ASSERT_TRUE(pipeline->finish());
  EXPECT_TRUE(met);
  EXPECT_EQ(most_in_session, 1);
  EXPECT_EQ(sink_.results, 20U);
  EXPECT_EQ(sink_.wrong, 0U);
}

TEST_F(PipelineTest, stop_drops_what_waits_and_lets_go_of_sources) {
  options_.dispatcher.workers = 1;
  options_.dispatcher.max_batch = 1;
  options_.warm_sizes = {1};
  auto pipeline = start();
  std::atomic<bool> go{false};
  runner_.before = [&](std::uint32_t, std::size_t) {
    while (!go) std::this_thread::sleep_for(1ms);
  };
  std::atomic<std::uint64_t> taken{0};
  std::thread source([&] {
    while (pipeline->offer(frame(0, taken)) == Offered::taken) ++taken;
  });
  while (taken < 1 + options_.dispatcher.capacity) std::this_thread::sleep_for(1ms);
  pipeline->stop();
  source.join();
  go = true;
  ASSERT_TRUE(pipeline->finish());
  EXPECT_EQ(sink_.results, 1U);
  EXPECT_EQ(sink_.dropped[static_cast<std::size_t>(DropReason::stopped)], taken - 1);
}

TEST_F(PipelineTest, a_frame_given_up_leaves_while_its_worker_still_runs) {
  options_.dispatcher.workers = 1;
  options_.dispatcher.max_batch = 1;
  options_.dispatcher.give_up_after_ns = 0;
  options_.warm_sizes = {1};
  options_.slo_ns = 20'000'000;
  auto pipeline = start();
  std::atomic<bool> go{false};
  runner_.before = [&](std::uint32_t, std::size_t) {
    while (!go) std::this_thread::sleep_for(1ms);
  };
  auto late = frame(0, 0);
  late.due_ns = base::system_clock().now().count();
  late.may_wait = false;
  ASSERT_EQ(pipeline->offer(std::move(late)), Offered::taken);
  for (int i = 0; i < 1000 && pipeline->status().written == 0; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(pipeline->status().written, 1U) << "the timer's work alone";
  go = true;
  auto next = frame(0, 1);
  ASSERT_EQ(pipeline->offer(std::move(next)), Offered::taken);
  ASSERT_TRUE(pipeline->finish());
  EXPECT_EQ(sink_.dropped[static_cast<std::size_t>(DropReason::timeout)], 1U);
  EXPECT_EQ(sink_.results, 1U);
  EXPECT_EQ(sink_.wrong, 0U);
}

}  // namespace
}  // namespace ridgeline::stream
