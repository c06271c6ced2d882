// SPDX-License-Identifier: Apache-2.0
#include "gpu/ceilings_probe.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>

#include "base/clock.hpp"

namespace ridgeline::gpu {
namespace {

using base::Result;

constexpr std::size_t kMiB = std::size_t{1} << 20U;
constexpr std::size_t kHostBytes = 64 * kMiB;  // past every cache; pinning more would take longer than copying it
constexpr std::size_t kMostDeviceCopy = 1024 * kMiB;  // far past an L2 of 50 to 100 MiB
constexpr int kRepetitions = 5;
constexpr double kEnoughMs = 60;  // per probe: slow cards repeat less
constexpr int kLaunches = 2000;

/// What all probes share.
struct Bench {
  std::shared_ptr<const CudaDriver> driver;
  CudaStream stream;
  CudaEvent start;
  CudaEvent end;

  using Work = std::function<bool()>;

  /// Least time of a repetition by the GPU's own clock, in ms; nullopt when it does not run or takes no time.
  [[nodiscard]] std::optional<double> best_ms(const Work& work) const {
    if (!work() || stream.synchronize() != kCudaSuccess) return std::nullopt;
    std::optional<double> best;
    double spent = 0;
    for (int i = 0; i < kRepetitions && spent < kEnoughMs; ++i) {
      if (start.record(stream.handle()) != kCudaSuccess || !work() || end.record(stream.handle()) != kCudaSuccess ||
          end.synchronize() != kCudaSuccess)
        return std::nullopt;
      const auto took = end.elapsed_ms(start);
      if (!took || *took <= 0) return std::nullopt;
      spent += *took;
      best = std::min(best.value_or(*took), *took);
    }
    return best;
  }

  /// The same by the CPU's clock, for calls that return when they are done.
  [[nodiscard]] static std::optional<double> best_wall_ms(const Work& work) {
    if (!work()) return std::nullopt;
    std::optional<double> best;
    double spent = 0;
    for (int i = 0; i < kRepetitions && spent < kEnoughMs; ++i) {
      const auto begun = base::system_clock().now();
      if (!work()) return std::nullopt;
      const double took = base::to_seconds(base::system_clock().now() - begun) * 1e3;
      spent += took;
      best = std::min(best.value_or(took), took);
    }
    return best;
  }
};

/// Decimal GB a second.
std::optional<double> rate(double bytes, std::optional<double> ms) {
  return ms ? std::optional(bytes / *ms / 1e6) : std::nullopt;
}

/// Floats of either sign with a magnitude of 0.5 to 1; in half precision the same, two a word.
void fill_random(void* data, std::size_t bytes, Cublas::Precision precision) {
  std::uint64_t state = 0x9e3779b97f4a7c15ULL;
  auto* out = static_cast<unsigned char*>(data);
  const std::size_t pattern = std::min(bytes, 4 * kMiB);
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= pattern; at += sizeof(std::uint32_t)) {
    state ^= state << 13U;  // xorshift64 (Marsaglia 2003)
    state ^= state >> 7U;
    state ^= state << 17U;
    auto word = static_cast<std::uint32_t>(state >> 32U);
    word =
        precision == Cublas::Precision::fp16 ? (word & 0x83ff83ffU) | 0x38003800U : (word & 0x807fffffU) | 0x3f000000U;
    std::memcpy(out + at, &word, sizeof(word));
  }
  for (std::size_t at = pattern; at < bytes; at += pattern) std::memcpy(out + at, out, std::min(pattern, bytes - at));
}

bool fill_device(const Bench& bench, const PinnedBuffer& host, const DeviceBuffer& to) {
  for (std::size_t at = 0; at < to.size(); at += host.size()) {
    const auto bytes = std::min(host.size(), to.size() - at);
    if (bench.driver->copy_to_device_async(to.address() + at, host.data(), bytes, bench.stream.handle()) !=
        kCudaSuccess)
      return false;
  }
  return bench.stream.synchronize() == kCudaSuccess;
}

Result<void> probe_copies(const Bench& bench, std::size_t free_bytes, schema::GpuCeilings& found) {
  const auto& driver = *bench.driver;
  auto* stream = bench.stream.handle();
  const auto share = std::min(kMostDeviceCopy, free_bytes / 8);
  {
    RL_TRY_ASSIGN(const auto from, DeviceBuffer::make(bench.driver, share));
    RL_TRY_ASSIGN(const auto to, DeviceBuffer::make(bench.driver, share));
    found.copy_gb_per_s = rate(2.0 * static_cast<double>(share), bench.best_ms([&] {
      return driver.copy_on_device_async(to.address(), from.address(), share, stream) == kCudaSuccess;
    }));
  }
  const auto bytes = std::min(kHostBytes, share);
  const auto size = static_cast<double>(bytes);
  RL_TRY_ASSIGN(const auto device, DeviceBuffer::make(bench.driver, bytes));
  if (const auto pinned = PinnedBuffer::make(bench.driver, bytes)) {
    std::memset(pinned->data(), 1, bytes);
    found.h2d_gb_per_s = rate(size, bench.best_ms([&] {
      return driver.copy_to_device_async(device.address(), pinned->data(), bytes, stream) == kCudaSuccess;
    }));
    found.d2h_gb_per_s = rate(size, bench.best_ms([&] {
      return driver.copy_to_host_async(pinned->data(), device.address(), bytes, stream) == kCudaSuccess;
    }));
  }
  std::vector<unsigned char> pageable(bytes, 1);
  found.h2d_pageable_gb_per_s =
      rate(size, Bench::best_wall_ms([&] {
             return driver.copy_to_device(device.address(), pageable.data(), bytes) == kCudaSuccess &&
                    driver.synchronize_context() == kCudaSuccess;
           }));
  found.d2h_pageable_gb_per_s =
      rate(size, Bench::best_wall_ms(
                     [&] { return driver.copy_to_host(pageable.data(), device.address(), bytes) == kCudaSuccess; }));
  return {};
}

std::optional<double> matmul_tflops(const Bench& bench, const Cublas& cublas, Cublas::Precision precision, int n,
                                    const PinnedBuffer& host) {
  const auto bytes = static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * Cublas::element_bytes(precision);
  const auto a = DeviceBuffer::make(bench.driver, bytes);
  const auto b = DeviceBuffer::make(bench.driver, bytes);
  const auto c = DeviceBuffer::make(bench.driver, bytes);
  if (!a || !b || !c) return std::nullopt;
  fill_random(host.data(), host.size(), precision);
  if (!fill_device(bench, host, *a) || !fill_device(bench, host, *b)) return std::nullopt;
  const auto ms = bench.best_ms(
      [&] { return cublas.multiply(precision, n, a->address(), b->address(), c->address()).has_value(); });
  const double size = n;
  return ms ? std::optional(2 * size * size * size / *ms / 1e9) : std::nullopt;
}

void probe_products(const Bench& bench, const std::vector<std::string>& candidates, std::size_t free_bytes,
                    schema::GpuCeilings& found) {
  const auto cublas = Cublas::make(bench.stream, candidates);
  const auto host = PinnedBuffer::make(bench.driver, std::min(kHostBytes, std::max(free_bytes / 8, kMiB)));
  if (!cublas || !host) return;
  int n = 8192;
  while (n > 512 && 3 * 4 * static_cast<std::size_t>(n) * static_cast<std::size_t>(n) > free_bytes / 4) n /= 2;
  found.matmul_fp32_tflops = matmul_tflops(bench, *cublas, Cublas::Precision::fp32, n, *host);
  found.matmul_tf32_tflops = matmul_tflops(bench, *cublas, Cublas::Precision::tf32, n, *host);
  found.matmul_fp16_tflops = matmul_tflops(bench, *cublas, Cublas::Precision::fp16, n, *host);
}

std::optional<double> launch_us(const Bench& bench) {
  const auto kernel = CudaKernel::make_empty(bench.driver);
  if (!kernel) return std::nullopt;
  const auto ms = bench.best_ms([&] {
    for (int i = 0; i < kLaunches; ++i)
      if (kernel->launch(bench.stream.handle()) != kCudaSuccess) return false;
    return true;
  });
  return ms ? std::optional(*ms * 1e3 / kLaunches) : std::nullopt;
}

}  // namespace

Result<schema::GpuCeilings> probe_ceilings(const std::shared_ptr<const CudaDriver>& driver,
                                           const std::vector<std::string>& cublas_candidates) {
  RL_TRY_ASSIGN(const auto context, PrimaryContext::retain(driver, 0));
  RL_TRY(context.make_current());
  RL_TRY_ASSIGN(auto stream, CudaStream::make(driver));
  RL_TRY_ASSIGN(auto start, CudaEvent::make(driver));
  RL_TRY_ASSIGN(auto end, CudaEvent::make(driver));
  const Bench bench{driver, std::move(stream), std::move(start), std::move(end)};
  RL_TRY_ASSIGN(const auto memory, driver->memory_info());
  const auto free_bytes = static_cast<std::size_t>(memory.free_bytes);
  schema::GpuCeilings found;
  RL_TRY(probe_copies(bench, free_bytes, found));
  probe_products(bench, cublas_candidates, free_bytes, found);
  found.launch_us = launch_us(bench);
  return found;
}

}  // namespace ridgeline::gpu
