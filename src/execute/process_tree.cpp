// SPDX-License-Identifier: Apache-2.0
#include "execute/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/clock.hpp"

namespace ridgeline::execute {
namespace {

constexpr double kKillLimitS = 2;
constexpr int kQuickLooks = 100;

struct StatLine {
  pid_t parent = 0;
  bool ended = false;  ///< waits to be reaped
  std::int64_t rss_pages = 0;
};

/// Fields of /proc/PID/stat behind the name, which may itself hold blanks and brackets.
bool read_stat(const char* pid, StatLine& out) {
  std::array<char, 64> path{};
  std::strcpy(path.data(), "/proc/");
  std::strncat(path.data(), pid, 16);
  std::strcat(path.data(), "/stat");
  const int fd = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  std::array<char, 1024> text;
  const auto got = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  if (got <= 0) return false;
  text[static_cast<std::size_t>(got)] = '\0';
  char* at = std::strrchr(text.data(), ')');
  if (at == nullptr || at[1] == '\0') return false;
  const char state = at[2];
  constexpr int kParentField = 4;
  constexpr int kThreadsField = 20;
  constexpr int kRssField = 24;
  at += 3;
  for (int field = kParentField; field <= kRssField; ++field) {
    char* end = nullptr;
    const auto value = std::strtoll(at, &end, 10);
    if (end == at) return false;
    if (field == kParentField) out.parent = static_cast<pid_t>(value);
    // A process whose first thread has ended looks like a zombie while the others go on.
    if (field == kThreadsField) out.ended = state == 'X' || (state == 'Z' && value <= 1);
    if (field == kRssField) out.rss_pages = value;
    at = end;
  }
  return true;
}

/// Of this process, as the kernel lists them for its only thread; empty where the kernel does not.
std::vector<pid_t> direct_children() {
  static const std::string path = fmt::format("/proc/self/task/{}/children", ::getpid());
  std::vector<pid_t> out;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return out;
  std::array<char, 4096> text;
  const auto got = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  if (got <= 0) return out;
  text[static_cast<std::size_t>(got)] = '\0';
  for (char* at = text.data();;) {
    char* end = nullptr;
    const auto pid = std::strtol(at, &end, 10);
    if (end == at || *end == '\0') return out;  // the last number may be cut
    out.push_back(static_cast<pid_t>(pid));
    at = end;
  }
}

/// Whether the process was started with that entry in its environment. False for one that is not ours to look at.
bool started_with(const char* pid, const std::string& entry) {
  const int fd = ::open(fmt::format("/proc/{}/environ", pid).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  std::string text(1, '\0');
  std::array<char, 16384> piece;
  for (ssize_t got = 0; (got = ::read(fd, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(got));
  ::close(fd);
  const std::string end(1, '\0');
  return text.find(end + entry + end) != std::string::npos;
}

std::vector<pid_t> started_with(const std::string& entry) {
  std::vector<pid_t> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), &::closedir);
  while (const dirent* file = proc ? ::readdir(proc.get()) : nullptr) {
    if (std::isdigit(static_cast<unsigned char>(file->d_name[0])) == 0) continue;
    if (started_with(file->d_name, entry)) out.push_back(static_cast<pid_t>(std::atol(file->d_name)));
  }
  return out;
}

}  // namespace

TreeReading read_tree(pid_t root) {
  std::map<pid_t, std::vector<std::pair<pid_t, StatLine>>> children;
  if (const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), &::closedir); proc) {
    while (const dirent* entry = ::readdir(proc.get())) {
      if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
      StatLine line;
      if (read_stat(entry->d_name, line))
        children[line.parent].emplace_back(static_cast<pid_t>(std::atol(entry->d_name)), line);
    }
  }
  const auto page = static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
  TreeReading out;
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const auto parent = open.back();
    open.pop_back();
    for (const auto& [pid, line] : children[parent]) {
      open.push_back(pid);
      if (line.ended) continue;
      out.processes.push_back(pid);
      out.rss_bytes += line.rss_pages * page;
    }
  }
  return out;
}

void reap_children(pid_t keep) noexcept {
  while (true) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno == EINTR) continue;
      return;
    }
    // The one to keep hides the others behind it; they are reaped once the caller has reaped it.
    if (info.si_pid == 0 || info.si_pid == keep) return;
    ::waitpid(info.si_pid, nullptr, 0);
  }
}

bool has_children() noexcept {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

int end_descendants(double grace_s, const std::function<void(pid_t, int)>& reaped) {
  const auto& clock = base::system_clock();
  const auto self = ::getpid();
  const auto begin = clock.now();
  const auto elapsed = [&] { return base::to_seconds(clock.now() - begin); };
  const auto signal_all = [&](int signal) {
    for (const auto pid : read_tree(self).processes) ::kill(pid, signal);
  };
  bool told = false;
  while (true) {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) reaped(pid, status);
    // The kernel's word, and not a look that may miss what is forking: no child, no descendant.
    if (pid < 0 && errno == ECHILD) return 0;
    if (elapsed() >= grace_s + kKillLimitS) return std::max(1, static_cast<int>(read_tree(self).processes.size()));
    if (elapsed() < grace_s) {
      if (!told) signal_all(SIGTERM);
      if (!told) signal_all(SIGCONT);  // a stopped process gets its signal only when it goes on
      told = true;
      clock.sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    signal_all(SIGKILL);
    // Whatever loses its parent becomes a child of ours; these looks are quick enough for what forks and ends.
    for (int look = 0; look < kQuickLooks; ++look)
      for (const auto child : direct_children()) ::kill(child, SIGKILL);
    clock.sleep_for(std::chrono::milliseconds(1));
  }
}

int kill_until_none(const std::function<std::vector<pid_t>()>& find, double limit_s) {
  const auto& clock = base::system_clock();
  const auto begin = clock.now();
  while (true) {
    const auto found = find();
    if (found.empty()) return 0;
    for (const auto pid : found) ::kill(pid, SIGKILL);
    if (base::to_seconds(clock.now() - begin) >= limit_s) return static_cast<int>(found.size());
    clock.sleep_for(std::chrono::milliseconds(5));
  }
}

int end_detached(std::optional<pid_t> root, const std::string& mark) {
  if (root) ::kill(*root, SIGSTOP);
  return kill_until_none([&] {
    auto found = started_with(mark);
    if (!root) return found;
    std::erase(found, *root);
    const auto tree = read_tree(*root).processes;
    found.insert(found.end(), tree.begin(), tree.end());
    return found;
  });
}

}  // namespace ridgeline::execute
