// SPDX-License-Identifier: Apache-2.0
#include "execute/fork_server_client.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

namespace ridgeline::execute {
namespace {

constexpr timeval kPatience{30, 0};
/// What a process that is stopped had given to the GPU: Inductor times kernels in batches of a tenth of a second at
/// most before it waits for them.
constexpr auto kDrain = std::chrono::milliseconds(120);

/// -1: there is no server.
int connection_to_server() {
  const char* path = std::getenv(kForkServerVariable);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, path, std::strlen(path) + 1);
  const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return -1;
  ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  const auto* any = static_cast<const sockaddr*>(static_cast<const void*>(&address));
  if (::connect(connection, any, sizeof address) == 0) return connection;
  ::close(connection);
  return -1;
}

std::optional<base::Json> exchange(int connection, const base::Json& request) {
  const auto line = base::dump_json(request) + "\n";
  for (std::size_t done = 0; done < line.size();) {
    const auto sent = ::send(connection, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (sent <= 0) return std::nullopt;
    done += static_cast<std::size_t>(sent);
  }
  std::string answer;
  while (answer.empty() || answer.back() != '\n') {
    std::array<char, 4096> piece;
    const auto got = ::recv(connection, piece.data(), piece.size(), 0);
    if (got <= 0) return std::nullopt;
    answer.append(piece.data(), static_cast<std::size_t>(got));
  }
  const auto json = base::Json::parse(answer, nullptr, false);
  return json.is_object() ? std::optional(json) : std::nullopt;
}

}  // namespace

std::vector<std::string> fork_relay(const std::string& python) {
  const char* relay = std::getenv(kForkRelayVariable);
  if (std::getenv(kForkServerVariable) == nullptr || relay == nullptr) return {};
  return {python, "-S", "-E", relay};
}

std::optional<base::Json> ask_fork_server(const base::Json& request) {
  const int connection = connection_to_server();
  if (connection < 0) return std::nullopt;
  auto answer = exchange(connection, request);
  ::close(connection);
  return answer;
}

StandStill& StandStill::operator=(StandStill&& other) noexcept {
  end();
  connection_ = std::exchange(other.connection_, -1);
  on_gpu_ = std::exchange(other.on_gpu_, 0);
  return *this;
}

StandStill StandStill::begin() {
  StandStill still;
  still.connection_ = connection_to_server();
  if (still.connection_ < 0) return still;
  const auto answer = exchange(still.connection_, {{"op", "lease"}});
  if (!answer) {
    still.end();
    return still;
  }
  still.on_gpu_ = answer->value("on_gpu", 0);
  if (answer->value("was_busy", false)) std::this_thread::sleep_for(kDrain);
  return still;
}

void StandStill::end() noexcept {
  if (connection_ >= 0) ::close(std::exchange(connection_, -1));
  on_gpu_ = 0;
}

}  // namespace ridgeline::execute
