// SPDX-License-Identifier: Apache-2.0
#include "loader/page_cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::size_t kPlaces = 256;

/// Of all pages, or with `sampled` of those at kPlaces places.
std::optional<double> share_by_mincore(const DataFile& file, bool sampled) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto bytes = static_cast<std::size_t>(file.size());
  const auto pages = (bytes + page - 1) / page;
  void* map = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (map == MAP_FAILED) return std::nullopt;
  const auto places = sampled ? std::min(pages, kPlaces) : 1;
  const auto each = sampled ? 1 : pages;
  std::vector<unsigned char> flags(places * each);
  bool answered = true;
  for (std::size_t i = 0; answered && i < places; ++i) {
    auto* from = static_cast<unsigned char*>(map) + pages * i / places * page;
    answered = ::mincore(from, each * page, flags.data() + i * each) == 0;
  }
  ::munmap(map, bytes);
  if (!answered) return std::nullopt;
  const auto resident = std::count_if(flags.begin(), flags.end(), [](unsigned char flag) { return (flag & 1U) != 0; });
  return static_cast<double>(resident) / static_cast<double>(flags.size());
}

/// A read that may not wait tells whether a page is there. It starts nothing, so the answer does not change the cache.
Result<double> share_by_reads(const DataFile& file) {
  std::uint64_t there = 0;
  for (std::uint64_t i = 0; i < kPlaces; ++i) {
    std::byte byte{};
    iovec part{&byte, 1};
    const auto at = static_cast<off_t>(file.size() / kPlaces * i);
    const auto got = ::preadv2(file.descriptor(), &part, 1, at, RWF_NOWAIT);
    if (got < 0 && errno != EAGAIN)
      return fail(ErrorCode::unsupported, "{}: this file system does not report what lies in the page cache: {}",
                  file.path().string(), std::strerror(errno));
    there += got == 1 ? 1 : 0;
  }
  return static_cast<double>(there) / static_cast<double>(kPlaces);
}

Result<double> share_of(const DataFile& file, bool sampled) {
  if (file.size() == 0) return 1.0;
  // For files of others mincore says "all there" since Linux 5.2, so as not to give secrets away.
  if (::access(file.path().c_str(), W_OK) == 0)
    if (const auto share = share_by_mincore(file, sampled)) return *share;
  return share_by_reads(file);
}

}  // namespace

Result<double> resident_share(const std::filesystem::path& path) {
  RL_TRY_ASSIGN(const auto file, DataFile::open(path));
  return share_of(file, false);
}

Result<double> resident_share(const DataFile& file) { return share_of(file, true); }

}  // namespace ridgeline::loader
