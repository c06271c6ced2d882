// SPDX-License-Identifier: Apache-2.0
#include "execute/drain_pipe.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace ridgeline::execute {

bool drain_pipe(int fd, std::size_t limit, const std::function<void(std::string_view)>& take) {
  static thread_local std::array<char, 262144> chunk;
  for (std::size_t total = 0; total < limit;) {
    const auto got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    take({chunk.data(), static_cast<std::size_t>(got)});
    total += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace ridgeline::execute
