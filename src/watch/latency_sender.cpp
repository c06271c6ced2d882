// SPDX-License-Identifier: Apache-2.0
#include "watch/latency_sender.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "watch/socket_address.hpp"

namespace ridgeline::watch {
namespace {

constexpr std::size_t kMostBytes = 8 * 1024;  ///< of a datagram

}  // namespace

base::Result<LatencySender> LatencySender::open(const std::filesystem::path& path) {
  RL_TRY(socket_address(path.string()));
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return base::fail(base::ErrorCode::io, "latency socket {}: {}", path.string(), std::strerror(errno));
  return LatencySender(path.string(), socket);
}

LatencySender::LatencySender(LatencySender&& other) noexcept
    : path_(std::move(other.path_)),
      socket_(std::exchange(other.socket_, -1)),
      lines_(std::move(other.lines_)),
      waiting_(other.waiting_),
      sent_(other.sent_),
      lost_(other.lost_) {}

LatencySender::~LatencySender() {
  if (socket_ >= 0) ::close(socket_);
}

void LatencySender::add(double latency_ms) {
  lines_ += fmt::format("{:.4f}\n", latency_ms);
  ++waiting_;
  if (lines_.size() >= kMostBytes) flush();
}

void LatencySender::flush() {
  if (waiting_ == 0) return;
  const auto address = socket_address(path_);
  ssize_t done = -1;
  do
    done = ::sendto(socket_, lines_.data(), lines_.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&*address),
                    sizeof *address);
  while (done < 0 && errno == EINTR);
  (done < 0 ? lost_ : sent_) += waiting_;
  lines_.clear();
  waiting_ = 0;
}

}  // namespace ridgeline::watch
