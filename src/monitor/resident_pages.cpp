// SPDX-License-Identifier: Apache-2.0
#include "monitor/resident_pages.hpp"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace ridgeline::monitor {
namespace {

/// Segments that nobody may write equal their file, so that dropping their pages loses nothing.
int release_object(dl_phdr_info* object, std::size_t, void*) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const auto begin = object->dlpi_addr + segment.p_vaddr;
    const auto first = begin / page * page;
    const auto last = (begin + segment.p_memsz + page - 1) / page * page;
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);  // NOLINT(performance-no-int-to-ptr)
  }
  return 0;
}

constexpr std::uintptr_t kWorthALook = 1 << 20;  // bytes of uninitialized variables

/// Of a page of memory that is not ours: AddressSanitizer knows better than to read between variables, ThreadSanitizer
/// than to read what others may be writing (see release_if_zeros).
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] bool holds_zeros(const unsigned char* memory,
                                                                       std::size_t page) noexcept {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(memory);
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < page / sizeof any; ++i) any |= words[i];
  return any == 0;
}

/// Writes what is there, as one operation: the page counts as written to.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] void touch(unsigned char* memory) noexcept {
  auto value = __atomic_load_n(memory, __ATOMIC_RELAXED);
  __atomic_compare_exchange_n(memory, &value, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/// NVML has threads of its own, and between the look and the release one may write. A page that is marked free is
/// dropped only if nobody has written to it since (madvise(2), MADV_FREE), so it is looked at again after the mark and
/// what was written in between is touched. Paging out drops what is still marked; without it that would wait for a
/// shortage of memory.
void release_if_zeros(unsigned char* memory, std::size_t page) noexcept {
  if (!holds_zeros(memory, page) || ::madvise(memory, page, MADV_FREE) != 0) return;
  if (!holds_zeros(memory, page)) touch(memory);
  ::madvise(memory, page, MADV_PAGEOUT);
}

int release_zeros(dl_phdr_info* object, std::size_t, void*) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0 || segment.p_memsz - segment.p_filesz < kWorthALook)
      continue;
    const auto begin = object->dlpi_addr + segment.p_vaddr;
    const auto last = (begin + segment.p_memsz) / page * page;
    // The page with the end of the file's part is private to the file: released, it would hold the file's bytes again.
    for (auto at = (begin + segment.p_filesz + page - 1) / page * page; at < last; at += page)
      release_if_zeros(reinterpret_cast<unsigned char*>(at), page);  // NOLINT(performance-no-int-to-ptr)
  }
  return 0;
}

}  // namespace

void release_zero_pages() noexcept { ::dl_iterate_phdr(&release_zeros, nullptr); }

void release_start_up_pages() noexcept {
  ::malloc_trim(0);
  release_zero_pages();
  ::dl_iterate_phdr(&release_object, nullptr);
}

}  // namespace ridgeline::monitor
