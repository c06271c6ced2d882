// SPDX-License-Identifier: Apache-2.0
#include "host/heap.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace ridgeline::host {
namespace {

constexpr std::size_t kMostBytes = std::size_t{512} << 20;

}  // namespace

void keep_heap(std::size_t bytes) {
  const auto pages = sysconf(_SC_AVPHYS_PAGES);
  const auto page = sysconf(_SC_PAGESIZE);
  bytes = std::min(bytes, kMostBytes);
  if (pages > 0 && page > 0)
    bytes = std::min(bytes, static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 4);
  mallopt(M_MMAP_MAX, 0);  // large blocks come from the heap too
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  if (void* block = std::malloc(bytes); block != nullptr) {
    auto* touched = static_cast<volatile char*>(block);  // else a compiler may leave all of it out
    for (std::size_t at = 0; at < bytes; at += static_cast<std::size_t>(std::max(1L, page))) touched[at] = 1;
    std::free(block);
  }
}

}  // namespace ridgeline::host
