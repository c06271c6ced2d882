// SPDX-License-Identifier: Apache-2.0
#include "monitor/process_reader.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace ridgeline::monitor {
namespace {

constexpr std::size_t kLongestCommand = 300;

std::string printable(std::string text) {
  for (auto& letter : text)
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = ' ';
  return std::string(base::trim(text));
}

}  // namespace

void ProcessReader::describe(ProcessReading& process, base::Nanoseconds now) {
  const auto pid = static_cast<pid_t>(process.pid);
  const auto stat = processes_.stat(pid);
  if (!stat) return;
  auto at = known_.find(process.pid);
  if (at == known_.end() || at->second.started != stat->started) {
    auto known = first_look(pid, *stat);
    known.cpu_ticks = stat->cpu_ticks;
    known.at = now;
    at = known_.insert_or_assign(process.pid, std::move(known)).first;
  }
  auto& known = at->second;
  known.seen = true;
  if (const auto seconds = base::to_seconds(now - known.at); seconds > 0) {  // a process on two GPUs comes twice a look
    const auto ticks = static_cast<double>(stat->cpu_ticks - std::min(known.cpu_ticks, stat->cpu_ticks));
    known.cpu_percent = 100 * ticks / static_cast<double>(::sysconf(_SC_CLK_TCK)) / seconds;
    known.cpu_ticks = stat->cpu_ticks;
    known.at = now;
  }
  process.name = known.name;
  process.command = known.command;
  process.user = known.user;
  process.container = known.container;
  process.cpu_percent = known.cpu_percent;
  process.host_memory_bytes = static_cast<double>(stat->resident_pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void ProcessReader::end_look() {
  for (auto at = known_.begin(); at != known_.end();) {
    if (!at->second.seen) {
      at = known_.erase(at);
    } else {
      at->second.seen = false;
      ++at;
    }
  }
}

ProcessReader::Known ProcessReader::first_look(pid_t pid, const host::ProcessStat& stat) {
  Known known;
  known.started = stat.started;
  known.name = printable(stat.name);
  known.command = processes_.command_line(pid, kLongestCommand);
  if (known.command.empty()) known.command = known.name;
  known.container = processes_.container(pid);
  known.user = user_of(pid);
  return known;
}

std::string ProcessReader::user_of(pid_t pid) {
  const auto user = processes_.owner(pid);
  if (!user) return "";
  const auto [at, added] = users_.try_emplace(*user);
  if (added) {
    std::array<char, 4096> room{};
    passwd entry{};
    passwd* found = nullptr;
    const bool has_name = ::getpwuid_r(*user, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
    at->second = has_name ? std::string(entry.pw_name) : std::to_string(*user);
  }
  return at->second;
}

}  // namespace ridgeline::monitor
