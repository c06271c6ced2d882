// SPDX-License-Identifier: Apache-2.0
// The worker's main loop. Requests and answers have descriptors of their own, so that whatever a runtime prints to
// stdout or stderr cannot break the protocol.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/version.hpp"
#include "execute/message.hpp"
#include "execute/worker_environment.hpp"
#include "execute/worker_jobs.hpp"
#include "execute/worker_requests.hpp"

namespace ridgeline::execute {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitProtocol = 70;

/// False when the parent is gone.
bool send_frame(const WireFrame& frame) {
  const auto bytes = encode_frame(frame);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto sent = ::send(kReplyFd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

/// nullopt at end of file.
base::Result<std::optional<WireFrame>> receive_frame(WireFrameReader& reader) {
  std::array<char, 65536> chunk;
  for (;;) {
    RL_TRY_ASSIGN(auto frame, reader.next());
    if (frame) return frame;
    const auto got = ::read(kRequestFd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::optional<WireFrame>{};
    reader.append({chunk.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace

int worker_main(const workload::WorkloadRegistry& registry) {
  auto status = SharedStatus::attach(kStatusFd);
  if (!status || ::fcntl(kRequestFd, F_GETFD) < 0 || ::fcntl(kReplyFd, F_GETFD) < 0) {
    std::fputs("ridgeline worker: started by ridgeline itself, not by hand: use `ridgeline tune`\n", stderr);
    return kExitUsage;
  }
  // Programs that a runtime starts must not hold the parent's connection open.
  for (const int fd : {kRequestFd, kReplyFd, kStatusFd}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);

  clean_worker_environment();
  Heartbeat heartbeat(**status);
  Hello hello;
  hello.version = base::version();
  hello.status_bytes = sizeof(WorkerStatus);
  if (!send_frame(make_frame(FrameType::hello, hello))) return 0;

  WorkerRequests requests(registry, **status, heartbeat);
  WireFrameReader reader;
  for (;;) {
    auto request = receive_frame(reader);
    if (!request) {
      std::fprintf(stderr, "ridgeline worker: %s\n", request.error().message.c_str());
      return kExitProtocol;
    }
    if (!*request) return 0;
    if (!send_frame(requests.answer(**request))) return 0;
  }
}

}  // namespace ridgeline::execute
