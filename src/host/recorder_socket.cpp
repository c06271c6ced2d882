// SPDX-License-Identifier: Apache-2.0
#include "host/recorder_socket.hpp"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace ridgeline::host {
namespace {

constexpr std::string_view kEnding = ".sock";
constexpr std::string_view kFolderKey = "folder=";
constexpr std::string_view kOptionsKey = "options=";
constexpr int kBacklog = 8;
constexpr std::int64_t kLargestPid = 4'194'304;
constexpr std::time_t kLeastAgeS = 10;  // of a socket that may be stale

/// False where the path is too long for an address.
bool address_of(const std::string& path, sockaddr_un& out) {
  out = {};
  out.sun_family = AF_UNIX;
  if (path.size() >= sizeof out.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::memcpy(out.sun_path, path.c_str(), path.size());
  return true;
}

int failed(int socket) {
  const int error = errno;
  if (socket >= 0) ::close(socket);
  errno = error;
  return -1;
}

/// Only a connection shows it: with a shared folder the process may have another number here. One that is about to
/// listen refuses connections too.
void remove_if_stale(const std::string& path, std::time_t least_age_s) {
  struct stat seen {};
  if (::lstat(path.c_str(), &seen) != 0 || !S_ISSOCK(seen.st_mode) || ::time(nullptr) - seen.st_ctime < least_age_s)
    return;
  if (const int client = connect_recorder(path); client >= 0)
    ::close(client);
  else if (errno == ECONNREFUSED)
    ::unlink(path.c_str());
}

}  // namespace

std::string WakeRequest::text() const {
  return std::string(kFolderKey) + folder + "\n" + std::string(kOptionsKey) + options + "\n\n";
}

WakeRequest WakeRequest::parse(std::string_view text) {
  WakeRequest out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.substr(0, kFolderKey.size()) == kFolderKey) out.folder = line.substr(kFolderKey.size());
    if (line.substr(0, kOptionsKey.size()) == kOptionsKey) out.options = line.substr(kOptionsKey.size());
  }
  if (out.folder.empty() || out.folder.front() != '/') out.folder.clear();
  return out;
}

std::string recorder_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  auto folder = std::string(runtime != nullptr ? runtime : "") + "/ridgeline";
  if (sockaddr_un ignored{};
      runtime != nullptr && *runtime == '/' && address_of(recorder_socket(folder, kLargestPid), ignored))
    return folder;
  return "/tmp/ridgeline-" + std::to_string(::geteuid());
}

std::string check_recorder_folder(const std::string& folder) {
  struct stat seen {};
  if (::lstat(folder.c_str(), &seen) != 0) return std::strerror(errno);
  if (!S_ISDIR(seen.st_mode)) return "it is no folder";
  if (seen.st_uid != ::geteuid()) return "it belongs to another user";
  if ((seen.st_mode & (S_IRWXG | S_IRWXO)) != 0) return "it is open to other users";
  return {};
}

std::string make_recorder_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) return std::strerror(errno);
  return check_recorder_folder(folder);
}

std::string recorder_socket(const std::string& folder, std::int64_t pid) {
  return folder + "/" + std::to_string(pid) + std::string(kEnding);
}

std::vector<std::int64_t> recorder_processes(const std::string& folder) {
  std::vector<std::int64_t> out;
  DIR* entries = ::opendir(folder.c_str());
  if (entries == nullptr) return out;
  while (const auto* entry = ::readdir(entries)) {
    char* end = nullptr;
    const auto pid = std::strtoll(entry->d_name, &end, 10);
    if (pid > 0 && end == kEnding) out.push_back(pid);
  }
  ::closedir(entries);
  return out;
}

int connect_recorder(const std::string& path) {
  sockaddr_un address{};
  if (!address_of(path, address)) return -1;
  const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (client < 0 || ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return failed(client);
  return client;
}

int listen_as_recorder(const std::string& folder, std::int64_t pid) {
  for (const auto other : recorder_processes(folder))
    remove_if_stale(recorder_socket(folder, other), other == pid ? 0 : kLeastAgeS);
  const auto path = recorder_socket(folder, pid);
  sockaddr_un address{};
  if (!address_of(path, address)) return -1;
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // Nobody may connect before the mode is set: that takes listen().
  if (server < 0 || ::bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0 || ::listen(server, kBacklog) != 0)
    return failed(server);
  return server;
}

}  // namespace ridgeline::host
