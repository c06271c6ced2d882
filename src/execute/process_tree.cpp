// SPDX-License-Identifier: Apache-2.0
#include "execute/process_tree.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "host/processes.hpp"
#include "host/this_process.hpp"

namespace ridgeline::execute {
namespace {

constexpr double kKillLimitS = 2;
constexpr int kQuickLooks = 100;
constexpr pid_t kKernelThreads = 2;  ///< parent of threads of the kernel, which have no environment
constexpr double kExecLimitS = 0.1;

/// Whether exec may be loading a program for that process, which started after `self`: it then has no environment.
bool may_be_in_exec(const host::Processes& processes, pid_t pid, const host::ProcessStat& self) {
  if (!processes.has_no_environment(pid)) return false;
  const auto stat = processes.stat(pid);
  return stat && stat->started >= self.started && !stat->ended() && stat->parent != kKernelThreads;
}

/// `some_in_exec`: whether others may turn out to be started with it.
std::vector<pid_t> started_with(const std::string& entry, bool& some_in_exec) {
  const host::Processes processes;
  const auto self = processes.stat(::getpid());
  some_in_exec = false;
  auto out = processes.all();
  std::erase_if(out, [&](pid_t pid) {
    some_in_exec = (self && may_be_in_exec(processes, pid, *self)) || some_in_exec;
    return !processes.started_with(pid, entry);
  });
  return out;
}

}  // namespace

TreeReading read_tree(pid_t root) {
  const host::Processes processes;
  std::map<pid_t, std::vector<std::pair<pid_t, host::ProcessStat>>> children;
  for (const auto pid : processes.all())
    if (auto stat = processes.stat(pid)) children[stat->parent].emplace_back(pid, std::move(*stat));
  const auto page = static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
  TreeReading out;
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const auto parent = open.back();
    open.pop_back();
    for (const auto& [pid, stat] : children[parent]) {
      open.push_back(pid);
      if (stat.ended()) continue;
      out.processes.push_back(pid);
      out.rss_bytes += stat.resident_pages * page;
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
      for (const auto child : host::children_of_main_thread()) ::kill(child, SIGKILL);
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

std::string mark_of_a_life() { return fmt::format("{}-{}", ::getpid(), base::system_clock().now().count()); }

int end_detached(std::optional<pid_t> root, const std::string& mark) {
  if (root) ::kill(*root, SIGSTOP);
  const auto& clock = base::system_clock();
  const auto end = clock.now() + base::from_seconds(kExecLimitS);
  bool some_in_exec = false;
  while (true) {
    const int left = kill_until_none([&] {
      auto found = started_with(mark, some_in_exec);
      if (!root) return found;
      std::erase(found, *root);
      const auto tree = read_tree(*root).processes;
      found.insert(found.end(), tree.begin(), tree.end());
      return found;
    });
    if (left > 0 || !some_in_exec || clock.now() >= end) return left;
    clock.sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace ridgeline::execute
