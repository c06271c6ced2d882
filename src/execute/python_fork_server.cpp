// SPDX-License-Identifier: Apache-2.0
#include "execute/python_fork_server.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using base::Result;

constexpr int kControl = 3;  ///< its number in the server

Result<std::array<int, 2>> socket_pair() {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    return base::fail(ErrorCode::io, "cannot make a socket for the Python process: {}", std::strerror(errno));
  return sockets;
}

bool pass(int control, int descriptor) {
  char byte = '\n';
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  auto* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  return ::sendmsg(control, &message, MSG_NOSIGNAL) == 1;
}

}  // namespace

PythonForkServer::~PythonForkServer() {
  if (control_ >= 0) ::close(control_);
}

Result<void> PythonForkServer::start() {
  RL_TRY_ASSIGN(const auto sockets, socket_pair());
  base::SubprocessOptions server;
  server.argv = command_;
  server.environment = environment_;
  server.environment.emplace_back("RIDGELINE_FORK_FD", std::to_string(kControl));
  server.file_descriptors = {{sockets[1], kControl}};
  auto process = base::Subprocess::spawn(server);
  ::close(sockets[1]);
  if (control_ >= 0) ::close(control_);
  control_ = sockets[0];
  RL_TRY_ASSIGN(process_, std::move(process));
  return {};
}

Result<int> PythonForkServer::connect() {
  if (!process_ || process_->poll()) RL_TRY(start());
  RL_TRY_ASSIGN(const auto sockets, socket_pair());
  const bool passed = pass(control_, sockets[1]);
  ::close(sockets[1]);
  if (passed) return sockets[0];
  ::close(sockets[0]);
  return base::fail(ErrorCode::io, "the Python process that others are forked from does not answer");
}

}  // namespace ridgeline::execute
