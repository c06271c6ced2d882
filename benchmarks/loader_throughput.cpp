// SPDX-License-Identifier: Apache-2.0
// How many samples a second the HDF5 loader delivers. One JSON line a run.
//   loader_throughput make FILE --kind float32|gzip [--samples N]      writes a test file (datasets x and y)
//   loader_throughput run FILE [--dataset x --dataset y] [--workers 0,4,8,16] [--batch 256] [--epochs 3] [--cache-mb
//   1024]
//                     [--seed 0] [--order FILE] [--digest] [--cold]
//   loader_throughput scaling FILE [--workers 1,2,4,8,16] [--epochs 3] [--repeats 3] [--cache-mb 0] [...]
//                                                                     a table: each rate against that of the first
// In "scaling", "busy" is the share of the workers' time that they had work, "us a sample" the work itself: what is
// lost by waiting shows in the one, what cores take from each other (clock, memory, hyper-threads) in the other. Where
// nothing is decoded, "bare" are as many threads that only read pieces of a sample's size, in random order and without
// each other, and "memory" are as many that copy such pieces within memory, without the kernel: what no loader exceeds.
// --order: sample numbers as 64-bit little-endian integers, for a race with another loader. --digest: a CRC-32 over all
// delivered bytes of the first epoch, outside the timed epochs. --cold: the file is thrown out of the page cache before
// each.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <libdeflate.h>
#include <CLI/CLI.hpp>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "loader/hdf5_handle.hpp"
#include "loader/hdf5_library.hpp"
#include "loader/loader.hpp"
#include "loader/page_cache.hpp"

namespace {

using namespace ridgeline;

/// Share of the bytes read in between that had to wait for the device, 0 to 1; 0 when none were read.
double cold_share(const loader::LoaderStatistics& before, const loader::LoaderStatistics& after) {
  const auto& then = before.total.read.tally;
  const auto& now = after.total.read.tally;
  if (now.bytes == then.bytes) return 0;
  return static_cast<double>(now.cold_bytes - then.cold_bytes) / static_cast<double>(now.bytes - then.bytes);
}

/// Where the bytes of an epoch came from, by the loader's statistics before and after it: a rate means little without
/// it. "decoded": nothing was read. "warm": 99 % of the file lay in the page cache at the start, and at most 1 % of the
/// bytes had to wait for the device. "cold": at most a tenth of the file lay there.
const char* cache_state(const loader::LoaderStatistics& before, const loader::LoaderStatistics& after) {
  if (after.total.read.tally.bytes == before.total.read.tally.bytes) return "decoded";
  if (!after.resident_at_start) return "unknown";
  if (*after.resident_at_start <= 0.1) return "cold";
  return *after.resident_at_start >= 0.99 && cold_share(before, after) <= 0.01 ? "warm" : "mixed";
}

/// Asks the kernel to forget a file's pages (written ones are flushed first). Pages that another process maps stay.
base::Result<void> drop_from_page_cache(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return base::fail(base::ErrorCode::io, "cannot open {}: {}", path.string(), std::strerror(errno));
  ::fdatasync(file);
  const int error = ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::close(file);
  if (error != 0)
    return base::fail(base::ErrorCode::io, "cannot drop {} from the page cache: {}", path.string(),
                      std::strerror(error));
  return {};
}
using loader::Hdf5Handle;

struct Settings {
  std::string file;
  std::string kind = "float32";
  std::uint64_t samples = 50'000;
  std::vector<std::string> datasets{"x", "y"};
  std::vector<unsigned> workers{0, 1, 2};
  std::uint64_t batch = 256;
  unsigned epochs = 3;
  std::uint64_t cache_mb = 1024;
  std::uint64_t seed = 0;
  std::string order;
  bool digest = false;
  bool cold = false;
  unsigned repeats = 3;
};

/// Images of 3 x 32 x 32 in chunks of 64 samples, as float32 without filters or as smoothed uint8 with gzip 4; labels
/// as int64.
bool make_file(const Settings& s) {
  const std::lock_guard lock(loader::hdf5_mutex());
  loader::prepare_hdf5();
  const bool gzip = s.kind == "gzip";
  const Hdf5Handle file(H5Fcreate(s.file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  const hsize_t shape[4]{s.samples, 3, 32, 32};
  const hsize_t chunk[4]{std::min<hsize_t>(64, s.samples), 3, 32, 32};
  const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(properties.get(), 4, chunk);
  if (gzip) H5Pset_deflate(properties.get(), 4);
  const Hdf5Handle space(H5Screate_simple(4, shape, nullptr), H5Sclose);
  const hid_t type = gzip ? H5T_STD_U8LE : H5T_IEEE_F32LE;
  const Hdf5Handle x(H5Dcreate2(file.get(), "x", type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
                     H5Dclose);
  constexpr std::size_t kValues = 3 * 32 * 32;
  base::Random random(1);
  std::vector<float> floats(64 * kValues);
  std::vector<unsigned char> bytes(64 * kValues);
  for (hsize_t first = 0; first < s.samples; first += 64) {
    const hsize_t start[4]{first, 0, 0, 0};
    const hsize_t extent[4]{std::min<hsize_t>(64, s.samples - first), 3, 32, 32};
    int level = 128;
    for (std::size_t i = 0; i < floats.size(); ++i) {
      if (!gzip) floats[i] = static_cast<float>(random.uniform());
      level = std::clamp(level + static_cast<int>(random.below(9)) - 4, 0, 255);
      if (gzip) bytes[i] = static_cast<unsigned char>(level);
    }
    const Hdf5Handle memory(H5Screate_simple(4, extent, nullptr), H5Sclose);
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start, nullptr, extent, nullptr);
    if (H5Dwrite(x.get(), type, memory.get(), space.get(), H5P_DEFAULT,
                 gzip ? static_cast<void*>(bytes.data()) : floats.data()) < 0)
      return false;
  }
  std::vector<std::int64_t> labels(s.samples);
  for (auto& label : labels) label = static_cast<std::int64_t>(random.below(10));
  const hsize_t length = s.samples;
  const Hdf5Handle line(H5Screate_simple(1, &length, nullptr), H5Sclose);
  const Hdf5Handle y(H5Dcreate2(file.get(), "y", H5T_STD_I64LE, line.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                     H5Dclose);
  return H5Dwrite(y.get(), H5T_STD_I64LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, labels.data()) >= 0;
}

struct Epoch {
  double seconds = 0;
  std::uint64_t samples = 0;
  std::uint32_t crc = 0;
};

base::Result<Epoch> run_epoch(loader::Loader& loader, const Settings& s, std::uint64_t number, bool digest) {
  Epoch epoch;
  const auto begin = base::system_clock().now();
  RL_TRY(loader.start_epoch(number));
  for (;;) {
    RL_TRY_ASSIGN(const auto batch, loader.next());
    if (!batch) break;
    epoch.samples += batch->samples();
    for (std::size_t i = 0; digest && i < s.datasets.size(); ++i)
      epoch.crc = libdeflate_crc32(epoch.crc, batch->data(i).data(), batch->data(i).size());
  }
  epoch.seconds = base::to_seconds(base::system_clock().now() - begin);
  return epoch;
}

base::Result<loader::LoaderOptions> options_of(const Settings& s, unsigned workers) {
  loader::LoaderOptions options;
  options.datasets = s.datasets;
  options.batch_size = s.batch;
  options.workers = workers;
  options.cache_bytes = s.cache_mb << 20U;
  options.sampler.seed = s.seed;
  if (!s.order.empty()) {
    RL_TRY_ASSIGN(const auto bytes, base::read_file(s.order));
    options.sampler.order = loader::SampleOrder::given;
    options.sampler.given.resize(bytes.size() / sizeof(std::uint64_t));
    std::memcpy(options.sampler.given.data(), bytes.data(), options.sampler.given.size() * sizeof(std::uint64_t));
  }
  return options;
}

base::Result<void> run(const Settings& s, unsigned workers) {
  RL_TRY_ASSIGN(const auto options, options_of(s, workers));
  const auto open_begin = base::system_clock().now();
  RL_TRY_ASSIGN(const auto loader, loader::Loader::open(s.file, options, std::make_shared<loader::HostAllocator>()));
  nlohmann::json line{{"workers", workers},
                      {"batch", s.batch},
                      {"cache_mb", s.cache_mb},
                      {"cold", s.cold},
                      {"open_seconds", base::to_seconds(base::system_clock().now() - open_begin)}};
  std::vector<double> rates;
  Epoch last;
  for (unsigned epoch = 0; epoch < s.epochs; ++epoch) {
    if (s.cold) RL_TRY(drop_from_page_cache(s.file));
    RL_TRY_ASSIGN(const auto resident, loader::resident_share(s.file));
    line["resident_share_before"].push_back(resident);
    const auto before = loader->statistics();
    RL_TRY_ASSIGN(last, run_epoch(*loader, s, epoch, false));
    const auto after = loader->statistics();
    line["page_cache"].push_back(cache_state(before, after));
    line["cold_share"].push_back(cold_share(before, after));
    rates.push_back(static_cast<double>(last.samples) / last.seconds);
  }
  const auto statistics = loader->statistics();
  const auto& read = statistics.total.read;
  line["samples"] = last.samples;
  line["samples_per_second"] = rates;
  line["first_epoch"] = rates.front();
  line["best"] = *std::max_element(rates.begin(), rates.end());
  line["read_amplification"] =
      read.bytes_delivered == 0 ? 0 : static_cast<double>(read.tally.bytes) / static_cast<double>(read.bytes_delivered);
  line["cold_bytes"] = read.tally.cold_bytes;
  line["bytes_read"] = read.tally.bytes;
  line["chunks_decoded"] = read.chunks_decoded;
  line["chunk_cache_hits"] = read.chunk_cache_hits;
  line["read_seconds"] = read.read_seconds;
  line["decode_seconds"] = read.decode_seconds;
  line["copy_seconds"] = read.copy_seconds;
  line["worker_wait_seconds"] = statistics.total.wait_seconds;
  line["consumer_wait_seconds"] = statistics.consumer_wait_seconds;
  line["notes"] = loader->notes();
  if (s.digest) {
    RL_TRY_ASSIGN(const auto digest, run_epoch(*loader, s, 0, true));
    line["crc32"] = digest.crc;
  }
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
  return {};
}

struct ScalingRow {
  std::vector<double> rates;
  std::vector<double> bare;    ///< samples/s of threads that only read; empty where chunks were decoded
  std::vector<double> memory;  ///< samples/s of threads that only copy; empty likewise
  double wall_seconds = 0;
  double busy_seconds = 0;
  std::uint64_t samples = 0;
  std::map<std::string, int> states;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Samples a second of `threads` that get `samples` pieces of `piece` bytes each from random ones of `places`, each
/// thread into a batch of its own: what is left of a loader without its order, its batches and its queue. get(batch,
/// place) says whether it could. 0 on a fault.
template <typename Get>
double piece_rate(const Settings& s, unsigned threads, std::uint64_t samples, std::uint64_t piece, std::uint64_t places,
                  const Get& get) {
  if (places == 0) return 0;
  std::vector<std::thread> pool;
  std::atomic<bool> failed = false;
  std::vector<std::vector<unsigned char>> batches(threads, std::vector<unsigned char>(s.batch * piece));
  const auto begin = base::system_clock().now();
  for (unsigned t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      base::Random random(s.seed + t + 1);
      for (std::uint64_t i = t; i < samples; i += threads)
        if (!get(batches[t].data() + i / threads % s.batch * piece, random.below(places) * piece)) failed = true;
    });
  for (auto& thread : pool) thread.join();
  const auto seconds = base::to_seconds(base::system_clock().now() - begin);
  return failed ? 0 : static_cast<double>(samples) / seconds;
}

double bare_rate(const Settings& s, unsigned threads, std::uint64_t samples, std::uint64_t piece) {
  const int file = ::open(s.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::error_code ignored;
  const auto places = piece == 0 ? 0 : std::filesystem::file_size(s.file, ignored) / piece;
  const auto rate = piece_rate(s, threads, samples, piece, places, [&](unsigned char* to, std::uint64_t place) {
    return ::pread(file, to, piece, static_cast<off_t>(place)) == static_cast<ssize_t>(piece);
  });
  ::close(file);
  return rate;
}

/// Memory as large as the file, in huge pages where the system gives them.
class Pool {
 public:
  explicit Pool(std::uint64_t bytes) : bytes_(bytes / kHuge * kHuge), data_(std::aligned_alloc(kHuge, bytes_)) {
    if (data_ == nullptr) bytes_ = 0;
    if (bytes_ == 0) return;
    ::madvise(data_, bytes_, MADV_HUGEPAGE);
    std::memset(data_, 1, bytes_);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { std::free(data_); }

  [[nodiscard]] double copy_rate(const Settings& s, unsigned threads, std::uint64_t samples,
                                 std::uint64_t piece) const {
    return piece_rate(s, threads, samples, piece, piece == 0 ? 0 : bytes_ / piece,
                      [&](unsigned char* to, std::uint64_t place) {
                        std::memcpy(to, static_cast<const unsigned char*>(data_) + place, piece);
                        asm volatile("" : : "r"(to) : "memory");  // nobody reads the batches
                        return true;
                      });
  }

 private:
  static constexpr std::uint64_t kHuge = 2 << 20;
  std::uint64_t bytes_;
  void* data_;
};

/// Worker counts in turn, --repeats rounds, every other one backwards, so that a drift of the machine hits all alike.
base::Result<void> scaling(const Settings& s) {
  std::vector<ScalingRow> rows(s.workers.size());
  std::error_code ignored;
  const auto file_bytes = std::filesystem::file_size(s.file, ignored);
  const Pool memory(ignored ? 0 : file_bytes);
  for (unsigned repeat = 0; repeat < s.repeats; ++repeat)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto at = repeat % 2 == 0 ? i : rows.size() - 1 - i;
      RL_TRY_ASSIGN(auto options, options_of(s, s.workers[at]));
      RL_TRY_ASSIGN(const auto loader,
                    loader::Loader::open(s.file, std::move(options), std::make_shared<loader::HostAllocator>()));
      auto& row = rows[at];
      for (unsigned epoch = 0; epoch < s.epochs; ++epoch) {
        const auto before = loader->statistics();
        RL_TRY_ASSIGN(const auto done, run_epoch(*loader, s, epoch, false));
        const auto after = loader->statistics();
        row.rates.push_back(static_cast<double>(done.samples) / done.seconds);
        row.wall_seconds += done.seconds;
        row.busy_seconds += after.total.busy_seconds - before.total.busy_seconds;
        row.samples += done.samples;
        ++row.states[std::string(cache_state(before, after))];
        if (after.total.read.chunks_decoded != 0) continue;
        const auto piece = (after.total.read.tally.bytes - before.total.read.tally.bytes) / done.samples;
        row.bare.push_back(bare_rate(s, s.workers[at], done.samples, piece));
        row.memory.push_back(memory.copy_rate(s, s.workers[at], done.samples, piece));
      }
    }
  std::printf("%u CPUs, batch %llu, %llu MB for decoded data, %u rounds of %u epochs; medians\n\n",
              std::thread::hardware_concurrency(), static_cast<unsigned long long>(s.batch),
              static_cast<unsigned long long>(s.cache_mb), s.repeats, s.epochs);
  const bool bare = std::all_of(rows.begin(), rows.end(), [](const ScalingRow& row) { return !row.bare.empty(); });
  std::printf("| workers | samples/s | of perfect | busy | us a sample | bytes from |%s\n|---|---|---|---|---|---|%s\n",
              bare ? " bare | of perfect | of bare | memory | of perfect |" : "", bare ? "---|---|---|---|---|" : "");
  const auto one = median(rows.front().rates) / s.workers.front();
  const auto one_bare = bare ? median(rows.front().bare) / s.workers.front() : 0;
  const auto one_memory = bare ? median(rows.front().memory) / s.workers.front() : 0;
  auto lines = nlohmann::json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const auto rate = median(row.rates);
    const auto efficiency = rate / (one * s.workers[i]);
    const auto busy = row.busy_seconds / (row.wall_seconds * s.workers[i]);
    const auto work = row.busy_seconds * 1e6 / static_cast<double>(row.samples);
    std::string states;
    for (const auto& [state, epochs] : row.states) states += (states.empty() ? "" : ", ") + state;
    std::printf("| %u | %.0f | %.0f %% | %.0f %% | %.2f | %s |", s.workers[i], rate, 100 * efficiency, 100 * busy, work,
                states.c_str());
    if (bare) {
      const auto reads = median(row.bare);
      const auto copies = median(row.memory);
      std::printf(" %.0f | %.0f %% | %.0f %% | %.0f | %.0f %% |", reads, 100 * reads / (one_bare * s.workers[i]),
                  100 * rate / reads, copies, 100 * copies / (one_memory * s.workers[i]));
    }
    std::printf("\n");
    lines.push_back({{"workers", s.workers[i]},
                     {"bare", row.bare},
                     {"memory", row.memory},
                     {"samples_per_second", rate},
                     {"efficiency", efficiency},
                     {"busy", busy},
                     {"us_per_sample", work},
                     {"page_cache", row.states},
                     {"rates", row.rates}});
  }
  std::printf("\n%s\n", lines.dump().c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("samples a second of the HDF5 loader");
  app.require_subcommand(1);
  Settings s;
  auto* make = app.add_subcommand("make", "write a test file");
  make->add_option("file", s.file)->required();
  make->add_option("--kind", s.kind)->check(CLI::IsMember({"float32", "gzip"}));
  make->add_option("--samples", s.samples);
  auto* measure = app.add_subcommand("run", "measure");
  measure->add_option("file", s.file)->required();
  measure->add_option("--dataset", s.datasets);
  measure->add_option("--workers", s.workers)->delimiter(',');
  measure->add_option("--batch", s.batch);
  measure->add_option("--epochs", s.epochs)->check(CLI::PositiveNumber);
  measure->add_option("--cache-mb", s.cache_mb);
  measure->add_option("--seed", s.seed);
  measure->add_option("--order", s.order);
  measure->add_flag("--digest", s.digest);
  measure->add_flag("--cold", s.cold);
  auto* scale = app.add_subcommand("scaling", "measure worker counts against the first one");
  scale->add_option("file", s.file)->required();
  scale->add_option("--dataset", s.datasets);
  const auto* counts = scale->add_option("--workers", s.workers)->delimiter(',')->check(CLI::PositiveNumber);
  scale->add_option("--batch", s.batch);
  scale->add_option("--epochs", s.epochs)->check(CLI::PositiveNumber);
  scale->add_option("--repeats", s.repeats)->check(CLI::PositiveNumber);
  const auto* memory = scale->add_option("--cache-mb", s.cache_mb);
  scale->add_option("--seed", s.seed);
  CLI11_PARSE(app, argc, argv);
  if (make->parsed()) return make_file(s) ? 0 : 1;
  if (scale->parsed()) {
    if (counts->count() == 0) s.workers = {1, 2, 4, 8, 16};
    if (memory->count() == 0) s.cache_mb = 0;
    const auto done = scaling(s);
    if (!done) std::fprintf(stderr, "error: %s\n", done.error().message.c_str());
    return done ? 0 : 1;
  }
  for (const auto workers : s.workers)
    if (const auto done = run(s, workers); !done) {
      std::fprintf(stderr, "error: %s\n", done.error().message.c_str());
      return 1;
    }
  return 0;
}
