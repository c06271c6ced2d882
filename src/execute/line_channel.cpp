// SPDX-License-Identifier: Apache-2.0
#include "execute/line_channel.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace ridgeline::execute {

bool LineChannel::send(char kind, std::string_view text) {
  const std::lock_guard lock(sending_);
  if (gone_) return false;
  line_.assign(1, kind);
  line_ += text;
  line_ += '\n';
  for (std::size_t done = 0; done < line_.size();) {
    const auto sent = ::send(fd_, line_.data() + done, line_.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) {
      gone_ = true;
      return false;
    }
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

std::optional<std::string> LineChannel::receive() {
  std::array<char, 65536> chunk;
  for (;;) {
    if (const auto end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    const auto got = ::recv(fd_, chunk.data(), chunk.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    received_.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace ridgeline::execute
