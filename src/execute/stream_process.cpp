// SPDX-License-Identifier: Apache-2.0
#include "execute/stream_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "execute/line_channel.hpp"
#include "execute/message.hpp"
#include "execute/stream_server.hpp"
#include "execute/worker_environment.hpp"

namespace ridgeline::execute {
namespace {

constexpr int kExitStreamUsage = 2;

void tell(LineChannel& channel, const base::Error& error) {
  channel.send(stream_line::kError, std::string_view(make_error_frame(error).json));
}

base::Result<schema::StreamSpec> read_spec(LineChannel& channel) {
  const auto line = channel.receive();
  if (!line) return base::fail(base::ErrorCode::corrupt, "no request came");
  RL_TRY_ASSIGN(const auto json, base::parse_json(*line, "stream request"));
  return base::json_as<schema::StreamSpec>(json, "stream request");
}

}  // namespace

int stream_main(const workload::WorkloadRegistry& registry) {
  auto counts = SharedMemory<StreamCounts>::attach(kStreamCountsFd);
  if (!counts || ::fcntl(kStreamFd, F_GETFD) < 0) {
    std::fputs("ridgeline worker: started by ridgeline itself, not by hand: use `ridgeline stream`\n", stderr);
    return kExitStreamUsage;
  }
  for (const int fd : {kStreamFd, kStreamCountsFd, kStreamInputFd}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  // The parent decides when a run ends; a terminal's Ctrl-C reaches both.
  ::signal(SIGINT, SIG_IGN);
  clean_worker_environment();

  LineChannel channel(kStreamFd);
  auto spec = read_spec(channel);
  if (!spec) {
    tell(channel, spec.error());
    return 0;
  }
  // Never destroyed: its pipeline would wait for an inference that hangs.
  auto& server = *new StreamServer(registry, channel, **counts, std::move(*spec));
  std::thread([&] {
    const auto line = channel.receive();
    if (!line) ::_exit(0);
    if (!server.stop()) {
      tell(channel, {base::ErrorCode::cancelled, "stopped before the first frame"});
      ::_exit(0);
    }
    if (!channel.receive()) ::_exit(0);
  }).detach();
  const auto done = server.run();
  if (done)
    channel.send(stream_line::kDone, base::Json(*done));
  else
    tell(channel, done.error());
  // Libraries of drivers were seen to hang in their exit handlers, and nothing is left to be written.
  std::fflush(nullptr);
  ::_exit(0);
}

}  // namespace ridgeline::execute
