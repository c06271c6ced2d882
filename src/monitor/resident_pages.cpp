// SPDX-License-Identifier: Apache-2.0
#include "monitor/resident_pages.hpp"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

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

}  // namespace

void release_start_up_pages() noexcept {
  ::malloc_trim(0);
  ::dl_iterate_phdr(&release_object, nullptr);
}

}  // namespace ridgeline::monitor
