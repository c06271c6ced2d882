// SPDX-License-Identifier: Apache-2.0
// A worker with the default workloads, so that the process tests do not need the whole program. With an argument it
// misbehaves in one way, or plays the parent.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "base/file.hpp"
#include "base/version.hpp"
#include "execute/calls.hpp"
#include "execute/message.hpp"
#include "execute/stream_process.hpp"
#include "execute/wire_frame.hpp"
#include "execute/worker_status.hpp"
#include "fakes/faulty_stream_model.hpp"
#include "fakes/local_executor.hpp"

namespace {

using namespace ridgeline;

constexpr int kRequestFd = 3;
constexpr int kReplyFd = 4;

void send_bytes(std::string_view bytes) { (void)!::write(kReplyFd, bytes.data(), bytes.size()); }

void greet(const std::string& version) {
  execute::Hello hello;
  hello.version = version;
  hello.status_bytes = sizeof(execute::WorkerStatus);
  send_bytes(execute::encode_frame(execute::make_frame(execute::FrameType::hello, hello)));
}

void wait_for_request() {
  char byte = 0;
  (void)!::read(kRequestFd, &byte, 1);
}

/// Greets properly, then answers the first request with `bytes`.
int answer_with(std::string_view bytes) {
  greet(std::string(base::version()));
  wait_for_request();
  send_bytes(bytes);
  ::sleep(60);
  return 0;
}

/// A parent whose only trial hangs, for the test that kills it.
int play_parent() {
  execute::WorkerOptions options;
  options.command = {base::executable_path().string()};
  const auto executor = fakes::make_local_executor(options);
  schema::TrialSpec spec;
  spec.workload.kind = "synthetic";
  spec.workload.location = "fault=hang@measure";
  return execute::run_trial(*executor, spec, {}) ? 0 : 1;
}

int misbehave(std::string_view how) {
  if (how == "old_version") {
    greet("0.0.1");
    wait_for_request();
    return 0;
  }
  if (how == "silent") return static_cast<int>(::sleep(60));
  if (how == "dies_at_once") {
    std::fputs("libfictitious.so: cannot open shared object file\n", stderr);
    return 9;
  }
  if (how == "rubbish") return answer_with("this is no message at all, and it is longer than a header");
  const auto good = execute::encode_frame({execute::FrameType::result, "{\"status\":\"ok\"}", {1, 2, 3}});
  if (how == "truncated") {
    greet(std::string(base::version()));
    wait_for_request();
    send_bytes(std::string_view(good).substr(0, good.size() / 2));
    return 0;
  }
  if (how == "oversized") {
    auto header = good;
    const std::uint32_t huge = 0xFFFFFFFF;
    std::memcpy(header.data() + 8, &huge, sizeof huge);
    return answer_with(header);
  }
  if (how == "not_json") return answer_with(execute::encode_frame({execute::FrameType::result, "{", {}}));
  if (how == "hangs_up") {
    greet(std::string(base::version()));
    wait_for_request();
    ::close(kRequestFd);
    ::close(kReplyFd);
    ::sleep(60);
    return 0;
  }
  if (how == "parent") return play_parent();
  if (how == "stream") {
    auto registry = workload::make_default_registry();
    registry.add(fakes::FaultyStreamModel::kind());
    return execute::stream_main(registry);
  }
  std::fprintf(stderr, "unknown way to misbehave: %s\n", std::string(how).c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return misbehave(argv[1]);
  const auto registry = workload::make_default_registry();
  return execute::worker_main(registry);
}
