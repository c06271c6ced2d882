// SPDX-License-Identifier: Apache-2.0
#include "monitor/process_reader.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "monitor/container.hpp"

namespace ridgeline::monitor {
namespace {

constexpr std::size_t kLongestCommand = 300;

struct Stat {
  std::string name;
  std::uint64_t cpu_ticks = 0;
  std::uint64_t started = 0;
  std::uint64_t resident_pages = 0;
};

std::optional<std::uint64_t> number(const std::vector<std::string>& fields, std::size_t index) {
  if (index >= fields.size()) return std::nullopt;
  const auto value = base::parse_integer(fields[index], "field");
  return value && *value >= 0 ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

/// proc(5): the name stands in parentheses and may hold any character, so the last one closes it.
std::optional<Stat> parse_stat(std::string_view text) {
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  const auto fields = base::split(base::trim(text.substr(close + 1)), ' ');  // from "state", field 3 of the manual
  const auto user = number(fields, 14 - 3);
  const auto system = number(fields, 15 - 3);
  const auto started = number(fields, 22 - 3);
  const auto resident = number(fields, 24 - 3);
  if (!user || !system || !started || !resident) return std::nullopt;
  return Stat{std::string(text.substr(open + 1, close - open - 1)), *user + *system, *started, *resident};
}

std::string printable(std::string text) {
  for (auto& letter : text)
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = ' ';
  return std::string(base::trim(text));
}

}  // namespace

void ProcessReader::describe(ProcessReading& process, base::Nanoseconds now) {
  const auto folder = proc_ / std::to_string(process.pid);
  const auto text = base::read_file(folder / "stat");
  const auto stat = text ? parse_stat(*text) : std::nullopt;
  if (!stat) return;
  auto at = known_.find(process.pid);
  if (at == known_.end() || at->second.started != stat->started) {
    auto known = first_look(folder, stat->started, stat->name);
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

ProcessReader::Known ProcessReader::first_look(const std::filesystem::path& folder, std::uint64_t started,
                                               std::string_view name) {
  Known known;
  known.started = started;
  known.name = printable(std::string(name));
  if (auto command = base::read_file(folder / "cmdline"); command && !command->empty()) {
    if (command->size() > kLongestCommand) command->resize(kLongestCommand);
    known.command = printable(std::move(*command));
  } else {
    known.command = known.name;
  }
  if (const auto cgroup = base::read_file(folder / "cgroup")) known.container = container_of(*cgroup);
  known.user = user_of(folder);
  return known;
}

std::string ProcessReader::user_of(const std::filesystem::path& folder) {
  struct ::stat about {};
  if (::stat(folder.c_str(), &about) != 0) return "";
  const auto [at, added] = users_.try_emplace(about.st_uid);
  if (added) {
    std::array<char, 4096> room{};
    passwd entry{};
    passwd* found = nullptr;
    const bool has_name = ::getpwuid_r(about.st_uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
    at->second = has_name ? std::string(entry.pw_name) : std::to_string(about.st_uid);
  }
  return at->second;
}

}  // namespace ridgeline::monitor
