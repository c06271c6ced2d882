// SPDX-License-Identifier: Apache-2.0
#include "watch/socket_address.hpp"

#include <sys/socket.h>

#include <cstring>

namespace ridgeline::watch {

base::Result<sockaddr_un> socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return base::fail(base::ErrorCode::invalid_argument, "latency socket {}: expected a path of 1 to {} bytes", path,
                      sizeof address.sun_path - 1);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

}  // namespace ridgeline::watch
