// SPDX-License-Identifier: Apache-2.0
#include "host/memory_speed.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace ridgeline::host {
namespace {

constexpr std::size_t kArrayBytes = std::size_t{128} << 20U;

}  // namespace

MemorySpeed::MemorySpeed(int threads)
    : threads_(threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))),
      from_(kArrayBytes, 1),
      to_(kArrayBytes, 0) {}

double MemorySpeed::measure() {
  const auto part = kArrayBytes / static_cast<std::size_t>(threads_);
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads_; ++i)
      workers.emplace_back([&, offset = part * static_cast<std::size_t>(i)] {
        std::memcpy(to_.data() + offset, from_.data() + offset, part);
      });
  }
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return took > 0 ? 2 * static_cast<double>(part) * threads_ / took : 0;
}

}  // namespace ridgeline::host
