// SPDX-License-Identifier: Apache-2.0
#include "idle_recorder.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "host/recorder_socket.hpp"
#include "options.hpp"
#include "recorder.hpp"

namespace ridgeline::inject {
namespace {

using namespace std::chrono_literals;
using HookStage = IdleRecorder::HookStage;
using Clock = std::chrono::steady_clock;

constexpr int kLookEveryMs = 20;
constexpr auto kRangesEnd = 2s;     // those that are open when the recording ends
constexpr auto kCountingEnd = 10s;  // the steps that are counted after the recorded ones
constexpr auto kCountingBegin = 1s;
constexpr std::size_t kLongestRequest = 65'536;
constexpr timeval kRequestLimit{.tv_sec = 2, .tv_usec = 0};

/// What a process that waits has. A child gets one of its own.
struct Idle {
  std::mutex mutex;  ///< of starting
  bool started = false;
  std::atomic<bool> has_cuda = false;
  std::string path;
  std::atomic<int> server = -1;
  std::atomic<int> client = -1;  ///< whose recording goes on
  std::mutex hooks_mutex;        ///< of the hooks, and held while they run
  IdleRecorder::Hooks hooks = nullptr;
};
std::atomic<Idle*> idle_of_process = new Idle;

/// "": the process was not started to wait.
std::string folder_of_sockets() {
  const char* folder = std::getenv(host::kIdleVariable);
  return folder != nullptr ? folder : "";
}

void answer(int client, std::string_view text) {
  const auto line = std::string(text) + "\n";
  (void)::send(client, line.data(), line.size(), MSG_NOSIGNAL);
}

ucred peer_of(int client) {
  ucred out{};
  out.uid = static_cast<uid_t>(-1);
  socklen_t size = sizeof out;
  (void)::getsockopt(client, SOL_SOCKET, SO_PEERCRED, &out, &size);
  return out;
}

host::WakeRequest read_request(int client) {
  (void)::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &kRequestLimit, sizeof kRequestLimit);
  std::string text;
  std::array<char, 4'096> part{};
  while (text.size() < kLongestRequest && !text.ends_with("\n\n")) {
    const auto size = ::recv(client, part.data(), part.size(), 0);
    if (size <= 0) return {};
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  return host::WakeRequest::parse(text);
}

/// Whether there are any.
bool run_hooks(Idle& idle, IdleRecorder::HookStage stage, const std::string& options) {
  const std::lock_guard lock(idle.hooks_mutex);
  if (idle.hooks == nullptr) return false;
  idle.hooks(static_cast<std::int32_t>(stage), options.c_str());
  return true;
}

void refuse_another(const Idle& idle) {
  const int other = ::accept4(idle.server, nullptr, nullptr, SOCK_CLOEXEC);
  if (other < 0) return;
  answer(other, std::string(host::kWakeRefusedBusy) + std::to_string(peer_of(idle.client).pid));
  ::close(other);
}

/// Whether the client wants no more, or is gone.
bool client_ends(int client) {
  std::array<char, 64> text{};
  return ::recv(client, text.data(), text.size(), MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR);
}

/// Until the recording is over, or the client ends it. False: the process ends.
bool wait_for_end(Idle& idle, bool counts) {
  std::optional<Clock::time_point> over_since;
  for (;;) {
    auto* recorder = Recorder::of_process();
    if (recorder == nullptr) return false;
    if (idle.has_cuda) recorder->add_cuda();  // it may have started meanwhile
    if (recorder->is_over()) {
      const auto now = Clock::now();
      if (!over_since) over_since = now;
      const auto limit = !counts ? Clock::duration() : recorder->is_counting() ? kCountingEnd : kCountingBegin;
      if (now - *over_since >= limit) return true;
    }
    std::array<pollfd, 2> all{pollfd{idle.client, POLLIN, 0}, pollfd{idle.server, POLLIN, 0}};
    if (::poll(all.data(), all.size(), kLookEveryMs) <= 0) continue;
    if (all[1].revents != 0) refuse_another(idle);
    if (all[0].revents != 0 && client_ends(idle.client)) return true;
  }
}

/// False: the process ends, and has written what there is.
bool record(Idle& idle, const host::WakeRequest& request) {
  const bool has_hooks = run_hooks(idle, HookStage::prepared, request.options);
  const auto why = Recorder::wake(request.folder, request.options + (has_hooks ? "" : ";hooks=0"), idle.has_cuda);
  if (!why.empty()) {
    answer(idle.client, std::string(host::kWakeRefusedFolder) + why);
    return true;
  }
  // A call that is under way is recorded as a part from here on; with hooks first, only what it calls would be.
  run_hooks(idle, HookStage::installed, request.options);
  if (auto* recorder = Recorder::of_process(); has_hooks && recorder != nullptr) recorder->hooks_start();
  answer(idle.client, host::kWakeRecording);
  if (!wait_for_end(idle, Options::parse(request.options).counters != CounterMode::none)) return false;
  if (auto* recorder = Recorder::of_process(); recorder != nullptr) {
    recorder->close();
    for (const auto end = Clock::now() + kRangesEnd; recorder->has_open_ranges() && Clock::now() < end;)
      std::this_thread::sleep_for(std::chrono::milliseconds(kLookEveryMs));
  }
  run_hooks(idle, HookStage::removed, {});
  Recorder::end();
  answer(idle.client, host::kWakeEnded);
  return true;
}

void serve_client(Idle& idle, int client) {
  if (const auto uid = peer_of(client).uid; uid != ::geteuid() && uid != 0) return;
  const auto request = read_request(client);
  if (request.folder.empty()) {
    answer(client, host::kWakeRefusedRequest);
    return;
  }
  idle.client = client;
  const bool goes_on = record(idle, request);
  idle.client = -1;
  if (!goes_on) ::pause();  // the connection ends with the process, after the last byte of the recording
}

void serve(Idle* idle) {
  ::pthread_setname_np(::pthread_self(), "ridgeline-idle");
  for (;;) {
    const int client = ::accept4(idle->server, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) {
      serve_client(*idle, client);
      ::close(client);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      std::this_thread::sleep_for(1s);  // the program has no free descriptor, for example
    }
  }
}

void start_thread(Idle& idle) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the program's
  try {
    std::thread(serve, &idle).detach();  // nothing ends it but the process
  } catch (const std::system_error&) {
    ::close(idle.server.exchange(-1));
    ::unlink(idle.path.c_str());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// The child's socket is its own: a copy of the parent's would keep clients waiting once the parent has ended.
void after_fork() {
  auto* parent = idle_of_process.load();
  auto* child = new Idle;
  child->hooks = parent->hooks;
  for (auto* copy : {&parent->server, &parent->client})
    if (*copy >= 0) ::close(*copy);
  idle_of_process = child;
  RangeNames::after_fork();
}

}  // namespace

bool IdleRecorder::is_wanted() { return !folder_of_sockets().empty(); }

void IdleRecorder::start(bool has_cuda) {
  auto& idle = *idle_of_process.load();
  if (has_cuda) idle.has_cuda = true;
  const auto folder = folder_of_sockets();
  if (folder.empty()) return;
  const std::lock_guard lock(idle.mutex);
  if (std::exchange(idle.started, true) || !host::make_recorder_folder(folder).empty()) return;
  idle.path = host::recorder_socket(folder, ::getpid());
  idle.server = host::listen_as_recorder(folder, ::getpid());
  if (idle.server < 0) return;
  static std::once_flag once;
  std::call_once(once, [] {
    ::pthread_atfork(nullptr, nullptr, after_fork);
    std::atexit([] {
      if (const auto& here = *idle_of_process.load(); here.server >= 0) ::unlink(here.path.c_str());
    });
  });
  start_thread(idle);
}

void IdleRecorder::set_hooks(Hooks hooks) {
  auto& idle = *idle_of_process.load();
  const std::lock_guard lock(idle.hooks_mutex);
  idle.hooks = hooks;
}

}  // namespace ridgeline::inject
