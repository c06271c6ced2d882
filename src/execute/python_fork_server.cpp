// SPDX-License-Identifier: Apache-2.0
#include "execute/python_fork_server.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "execute/fork_server_client.hpp"
#include "execute/process_tree.hpp"

namespace ridgeline::execute {
namespace {

constexpr const char* kForkLifeVariable = "RIDGELINE_FORK_LIFE";
constexpr int kListener = 3;  ///< its number in the server
constexpr int kBacklog = 16;

/// A socket that listens before the server runs, so that whoever comes early waits for it; -1: none can be made.
int listener_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return -1;
  const auto* any = static_cast<const sockaddr*>(static_cast<const void*>(&address));
  if (::bind(listener, any, sizeof address) == 0 && ::listen(listener, kBacklog) == 0) return listener;
  ::close(listener);
  return -1;
}

}  // namespace

PythonForkServer::PythonForkServer(const std::string& python, const std::string& package_folder,
                                   const std::string& target) {
  if (folder_.path().empty()) return;
  const auto path = (folder_.path() / "fork").string();
  const int listener = listener_at(path);
  if (listener < 0) return;
  base::SubprocessOptions options;
  options.argv = {python, "-m", "ridgeline_infer.fork_server", target};
  options.environment = {{"RIDGELINE_FORK_FD", std::to_string(kListener)}, {"PYTHONUNBUFFERED", "1"}};
  auto path_of_python = package_folder;
  if (const char* set = std::getenv("PYTHONPATH"); set != nullptr && *set != '\0')
    path_of_python += ":" + std::string(set);
  options.environment.emplace_back("PYTHONPATH", path_of_python);
  options.file_descriptors = {{listener, kListener}};
  const auto life = mark_of_a_life();
  options.environment.emplace_back(kForkLifeVariable, life);
  mark_ = fmt::format("{}={}", kForkLifeVariable, life);
  auto process = base::Subprocess::spawn(options);
  ::close(listener);
  if (!process) return;
  process_.emplace(std::move(*process));
  ::setenv(kForkServerVariable, path.c_str(), 1);
  ::setenv(kForkServerPidVariable, std::to_string(process_->pid()).c_str(), 1);
  ::setenv(kForkRelayVariable, (package_folder + "/ridgeline_infer/fork_relay.py").c_str(), 1);
}

PythonForkServer::~PythonForkServer() {
  if (!process_) return;
  ::unsetenv(kForkServerVariable);
  ::unsetenv(kForkServerPidVariable);
  ::unsetenv(kForkRelayVariable);
  // What the user's file has started as it was imported.
  (void)end_detached(process_->poll() ? std::nullopt : std::optional(process_->pid()), mark_);
}

}  // namespace ridgeline::execute
