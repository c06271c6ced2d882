// SPDX-License-Identifier: Apache-2.0
#include "loader/loader.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"
#include "fakes/training_file.hpp"

namespace ridgeline::loader {
namespace {

/// Bytes read from the file for each byte delivered.
double amplification(const ReadStatistics& read) {
  return static_cast<double>(read.tally.bytes) / static_cast<double>(read.bytes_delivered);
}

class CountingAllocator final : public BatchAllocator {
 public:
  base::Result<std::byte*> allocate(std::size_t bytes) override {
    if (bytes > limit) return base::fail(base::ErrorCode::out_of_memory, "no pinned memory for {} bytes", bytes);
    ++live;
    return host_.allocate(bytes);
  }
  void release(std::byte* memory, std::size_t bytes) noexcept override {
    --live;
    host_.release(memory, bytes);
  }
  std::atomic<int> live{0};
  std::size_t limit = 1U << 30U;

 private:
  HostAllocator host_;
};

class LoaderTest : public ::testing::Test {
 protected:
  LoaderOptions options(unsigned workers) const {
    LoaderOptions o;
    o.datasets = {"x", "y"};
    o.batch_size = 64;
    o.workers = workers;
    o.layouts = LayoutCache(folder_ / "cache");
    return o;
  }
  std::unique_ptr<Loader> open(const LoaderOptions& o) const {
    auto loader = Loader::open(folder_ / "data.h5", o, allocator_);
    EXPECT_TRUE(loader) << loader.error().message;
    return loader ? std::move(*loader) : nullptr;
  }
  static std::int32_t x_value(const Batch& batch, std::uint64_t sample, std::uint64_t value,
                              std::uint64_t values = 24) {
    std::int32_t number = 0;
    std::memcpy(&number, batch.data(0).data() + (sample * values + value) * sizeof number, sizeof number);
    return number;
  }
  static std::int64_t label(const Batch& batch, std::uint64_t sample) {
    std::int64_t number = 0;
    std::memcpy(&number, batch.data(1).data() + sample * sizeof number, sizeof number);
    return number;
  }
  /// Runs an epoch; the samples in the order of delivery, each checked against the file's formula.
  static std::vector<std::uint64_t> run_epoch(Loader& loader, std::uint64_t epoch) {
    std::vector<std::uint64_t> samples;
    const auto started = loader.start_epoch(epoch);
    EXPECT_TRUE(started);
    for (std::uint64_t number = 0;; ++number) {
      auto batch = loader.next();
      if (!batch) ADD_FAILURE() << batch.error().message;
      if (!batch || !*batch) return samples;
      EXPECT_EQ((*batch)->number(), number);
      for (std::uint64_t i = 0; i < (*batch)->samples(); ++i) {
        const auto sample = static_cast<std::uint64_t>(label(**batch, i)) / 7;
        for (const std::uint64_t value : {0, 11, 23})
          EXPECT_EQ(x_value(**batch, i, value), static_cast<std::int32_t>(sample * 1000 + value));
        samples.push_back(sample);
      }
    }
  }

  fakes::TemporaryFolder folder_;
  std::shared_ptr<CountingAllocator> allocator_ = std::make_shared<CountingAllocator>();
};

TEST_F(LoaderTest, delivers_the_sampler_s_order_whatever_the_workers_filters_and_cache) {
  for (const unsigned gzip : {0U, 4U}) {
    fakes::write_training_file(folder_ / "data.h5", {.gzip = gzip});
    const auto sampler = Sampler::make(1000, 16, {SampleOrder::shuffled, 3});
    for (const unsigned workers : {0U, 1U, 2U, 5U})
      for (const std::uint64_t cache : {std::uint64_t{0}, std::uint64_t{20000}, std::uint64_t{1} << 30U}) {
        SCOPED_TRACE(fmt::format("gzip {} workers {} cache {}", gzip, workers, cache));
        auto o = options(workers);
        o.sampler.seed = 3;
        o.cache_bytes = cache;
        const auto loader = open(o);
        ASSERT_TRUE(loader);
        EXPECT_EQ(loader->batches_per_epoch(), 16U);
        for (const std::uint64_t epoch : {0, 1}) EXPECT_EQ(run_epoch(*loader, epoch), sampler->epoch(epoch));
        EXPECT_LE(loader->statistics().cached_bytes, cache);
      }
  }
  EXPECT_EQ(allocator_->live, 0);
}

TEST_F(LoaderTest, large_batches_are_filled_in_pieces_by_all_workers) {
  fakes::write_training_file(folder_ / "data.h5", {.samples = 5000, .gzip = 1});
  auto o = options(4);
  o.batch_size = 2048;
  o.sampler.order = SampleOrder::shuffled_chunks;
  const auto loader = open(o);
  ASSERT_TRUE(loader);
  EXPECT_EQ(loader->prefetch_batches(), 2U);
  auto samples = run_epoch(*loader, 0);
  std::sort(samples.begin(), samples.end());
  ASSERT_EQ(samples.size(), 5000U);
  for (std::uint64_t i = 0; i < samples.size(); ++i) ASSERT_EQ(samples[i], i);
  const auto statistics = loader->statistics();
  EXPECT_EQ(statistics.total.samples, 5000U);
  EXPECT_EQ(statistics.total.read.chunks_decoded, 313U);  // every chunk once
  EXPECT_LT(amplification(statistics.total.read), 1.0);
}

TEST_F(LoaderTest, drop_last_leaves_out_the_incomplete_batch) {
  fakes::write_training_file(folder_ / "data.h5", {.samples = 130});
  auto o = options(2);
  o.drop_last = true;
  const auto loader = open(o);
  ASSERT_TRUE(loader);
  EXPECT_EQ(run_epoch(*loader, 0).size(), 128U);
  o.drop_last = false;
  const auto all = open(o);
  ASSERT_TRUE(all);
  EXPECT_EQ(run_epoch(*all, 0).size(), 130U);
}

TEST_F(LoaderTest, counts_bytes_read_and_delivered) {
  fakes::write_training_file(folder_ / "data.h5", {.samples = 640, .values = 2048, .chunk_rows = 8});
  auto o = options(2);
  o.datasets = {"x"};
  const auto loader = open(o);
  ASSERT_TRUE(loader);
  ASSERT_TRUE(loader->start_epoch(0));
  while (*loader->next()) {
  }
  const auto total = loader->statistics().total.read;
  EXPECT_EQ(total.bytes_delivered, 640U * 2048 * 4);
  EXPECT_DOUBLE_EQ(amplification(total), 1);  // rows alone, though they are shuffled
  o.cache_bytes = 0;
  fakes::write_training_file(folder_ / "data.h5",
                             {.samples = 640, .values = 2048, .chunk_rows = 8, .fletcher32 = true});
  const auto checked = open(o);
  ASSERT_TRUE(checked);
  ASSERT_TRUE(checked->start_epoch(0));
  while (*checked->next()) {
  }
  EXPECT_GT(amplification(checked->statistics().total.read), 3);  // a checksum wants the whole chunk
}

TEST_F(LoaderTest, the_caller_may_hold_only_so_many_batches) {
  fakes::write_training_file(folder_ / "data.h5", {});
  const auto loader = open(options(2));
  ASSERT_TRUE(loader);
  ASSERT_TRUE(loader->start_epoch(0));
  auto first = loader->next();
  auto second = loader->next();
  const auto third = loader->next();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, base::ErrorCode::unavailable);
  first->reset();
  EXPECT_TRUE(loader->next());
}

TEST_F(LoaderTest, an_epoch_can_be_abandoned_while_batches_are_held) {
  fakes::write_training_file(folder_ / "data.h5", {.gzip = 1});
  const auto loader = open(options(3));
  ASSERT_TRUE(loader);
  for (std::uint64_t epoch = 0; epoch < 30; ++epoch) {
    ASSERT_TRUE(loader->start_epoch(epoch));
    for (std::uint64_t i = 0; i < epoch % 4; ++i) ASSERT_TRUE(loader->next());
  }
  ASSERT_TRUE(loader->start_epoch(0));
  const auto held = loader->next();
  const auto before = x_value(**held, 0, 0);
  EXPECT_EQ(run_epoch(*loader, 1).size(), 1000U);
  EXPECT_EQ(x_value(**held, 0, 0), before);
}

TEST_F(LoaderTest, stops_at_any_moment_and_lent_batches_stay_valid) {
  fakes::write_training_file(folder_ / "data.h5", {.gzip = 4});
  for (int run = 0; run < 30; ++run) {
    auto loader = open(options(1 + static_cast<unsigned>(run) % 4));
    ASSERT_TRUE(loader);
    if (run % 5 == 0) continue;  // never started
    ASSERT_TRUE(loader->start_epoch(0));
    auto batch = loader->next();
    ASSERT_TRUE(batch);
    if (run % 2 == 0) {
      loader->stop();
      loader->stop();
      EXPECT_EQ(loader->next().error().code, base::ErrorCode::cancelled);
      EXPECT_EQ(loader->start_epoch(1).error().code, base::ErrorCode::cancelled);
    }
    loader.reset();
    EXPECT_EQ(x_value(**batch, 0, 5) % 1000, 5);
  }
  EXPECT_EQ(allocator_->live, 0);
}

TEST_F(LoaderTest, a_stop_from_another_thread_wakes_the_consumer) {
  fakes::write_training_file(folder_ / "data.h5", {.samples = 20000, .gzip = 9});
  auto o = options(1);
  o.cache_bytes = 0;
  const auto loader = open(o);
  ASSERT_TRUE(loader);
  ASSERT_TRUE(loader->start_epoch(0));
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    loader->stop();
  });
  base::Result<std::optional<Batch>> batch = loader->next();
  while (batch && *batch) batch = loader->next();
  other.join();
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().code, base::ErrorCode::cancelled);
}

TEST_F(LoaderTest, workers_wait_when_the_consumer_is_slow) {
  fakes::write_training_file(folder_ / "data.h5", {});
  auto o = options(2);
  o.prefetch_batches = 1;
  const auto loader = open(o);
  ASSERT_TRUE(loader);
  ASSERT_TRUE(loader->start_epoch(0));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_LE(loader->statistics().total.samples, 3U * 64);  // prefetch 1, held 2: no more buffers than that
  std::uint64_t batches = 0;
  while (*loader->next()) ++batches;
  EXPECT_EQ(batches, 16U);
  EXPECT_GT(loader->statistics().total.wait_seconds, 0.02);
}

TEST_F(LoaderTest, a_damaged_chunk_is_named_after_the_batches_before_it) {
  fakes::write_training_file(folder_ / "data.h5", {.samples = 256, .fletcher32 = true});
  const auto file = DataFile::open(folder_ / "data.h5");
  const auto layout = inspect_dataset(folder_ / "data.h5", "x");
  {
    std::fstream bytes(folder_ / "data.h5", std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(layout->chunk(9).offset + 100));
    bytes.put('!');
  }
  for (const unsigned workers : {0U, 3U}) {
    auto o = options(workers);
    o.sampler.order = SampleOrder::sequential;
    const auto loader = open(o);
    ASSERT_TRUE(loader);
    ASSERT_TRUE(loader->start_epoch(0));
    ASSERT_TRUE(loader->next());
    ASSERT_TRUE(loader->next());
    const auto broken = loader->next();  // rows 128 to 191 are chunks 8 to 11
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().code, base::ErrorCode::corrupt);
    EXPECT_NE(broken.error().message.find("data.h5: dataset \"x\": chunk (9, 0): fletcher32 checksum"),
              std::string::npos)
        << broken.error().message;
    const auto after = loader->next();
    ASSERT_TRUE(after);
    EXPECT_FALSE(*after);
  }
}

TEST_F(LoaderTest, bad_requests_get_one_clear_line) {
  fakes::write_training_file(folder_ / "data.h5", {.samples = 100, .labels = 90});
  const auto message = [&](const LoaderOptions& o, const char* name = "data.h5") {
    const auto loader = Loader::open(folder_ / name, o, allocator_);
    return loader ? std::string("no error") : base::error_line(loader.error()).substr(0, 400);
  };
  const auto path = (folder_ / "data.h5").string();
  auto o = options(1);
  EXPECT_EQ(message(o), path + ": \"x\" has 100 samples, \"y\" has 90: expected equal numbers");
  EXPECT_NE(message(o, "none.h5").find("none.h5: No such file"), std::string::npos);
  o.datasets = {"images"};
  EXPECT_EQ(message(o), path + ": has no dataset \"images\"; it has x, y");
  o.datasets = {};
  EXPECT_EQ(message(o), "no dataset to read; name at least one");
  o.datasets = {"x"};
  o.batch_size = 0;
  EXPECT_EQ(message(o), "batch size 0: expected 1 to 2^32 - 1");
  o.batch_size = 64;
  allocator_->limit = 100;
  EXPECT_EQ(message(o), "no pinned memory for 6144 bytes");
  EXPECT_EQ(allocator_->live, 0);
  std::ofstream(folder_ / "text.h5") << "not HDF5 at all";
  EXPECT_EQ(message(o, "text.h5"),
            (folder_ / "text.h5").string() +
                ": is no HDF5 file: it does not begin with the HDF5 signature (15 bytes); name a "
                "file that h5py or another HDF5 library wrote");
}

TEST_F(LoaderTest, an_empty_dataset_is_an_empty_epoch) {
  fakes::write_training_file(folder_ / "data.h5", {.samples = 0});
  auto o = options(2);
  o.datasets = {"x"};
  const auto loader = open(o);
  ASSERT_TRUE(loader);
  EXPECT_EQ(loader->batches_per_epoch(), 0U);
  ASSERT_TRUE(loader->start_epoch(0));
  EXPECT_FALSE(*loader->next());
}

}  // namespace
}  // namespace ridgeline::loader
