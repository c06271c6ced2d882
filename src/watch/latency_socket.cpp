// SPDX-License-Identifier: Apache-2.0
#include "watch/latency_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "watch/socket_address.hpp"

namespace ridgeline::watch {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t kLongestDatagram = 64 * 1024;
constexpr std::size_t kMostReceived = 64 << 20;  // between two looks; what comes then is dropped

/// Somebody reads from the socket of that name.
bool is_served(const sockaddr_un& address) {
  const int probe = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool served = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(probe);
  return served;
}

}  // namespace

LatencySocket::LatencySocket(std::filesystem::path path, int socket, int stop_read, int stop_write)
    : path_(std::move(path)), socket_(socket), stop_read_(stop_read), stop_write_(stop_write), thread_([this] {
        listen();
      }) {}

Result<std::unique_ptr<LatencySocket>> LatencySocket::open(std::filesystem::path path) {
  const auto text = path.string();
  RL_TRY_ASSIGN(const auto address, socket_address(text));
  struct stat found {};
  if (::lstat(text.c_str(), &found) == 0) {
    if (!S_ISSOCK(found.st_mode))
      return fail(ErrorCode::unavailable, "latency socket {}: something else has that name", text)
          .hint("choose another path");
    if (is_served(address))
      return fail(ErrorCode::unavailable, "latency socket {}: another process listens there", text)
          .hint("choose another path");
    ::unlink(text.c_str());
  }
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int stop[2] = {-1, -1};
  if (socket < 0 || ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::pipe2(stop, O_CLOEXEC) != 0) {
    const int reason = errno;
    if (socket >= 0) ::close(socket);
    return fail(ErrorCode::io,
                "latency socket {}: cannot be made: {}; expected a path in a folder that exists and may be written to",
                text, std::strerror(reason))
        .hint("name another with --latency-socket PATH");
  }
  return std::unique_ptr<LatencySocket>(new LatencySocket(std::move(path), socket, stop[0], stop[1]));
}

LatencySocket::~LatencySocket() {
  ::close(stop_write_);
  thread_.join();
  ::close(stop_read_);
  ::close(socket_);
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void LatencySocket::listen() {
  std::vector<char> datagram(kLongestDatagram);
  for (;;) {
    pollfd events[2] = {{socket_, POLLIN, 0}, {stop_read_, POLLIN, 0}};
    if (::poll(events, 2, -1) < 0 && errno != EINTR) return;
    if (events[1].revents != 0) return;
    for (;;) {
      const auto count = ::recv(socket_, datagram.data(), datagram.size(), 0);
      if (count <= 0) break;
      const std::scoped_lock lock(mutex_);
      if (received_.size() >= kMostReceived) continue;
      received_.append(datagram.data(), static_cast<std::size_t>(count));
      received_ += '\n';
    }
  }
}

Result<void> LatencySocket::read(LatencyWindow& window) {
  std::string received;
  {
    const std::scoped_lock lock(mutex_);
    received.swap(received_);
  }
  for (const auto& line : base::split(received, '\n')) window.add_line(line);
  return {};
}

}  // namespace ridgeline::watch
