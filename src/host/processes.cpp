// SPDX-License-Identifier: Apache-2.0
#include "host/processes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <memory>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "host/container.hpp"

namespace ridgeline::host {

/// The name stands in parentheses and may hold any character, so the last one closes it.
std::optional<ProcessStat> parse_stat(std::string_view line) {
  constexpr int kParent = 4;  // fields as proc(5) numbers them
  constexpr int kUser = 14;
  constexpr int kSystem = 15;
  constexpr int kThreads = 20;
  constexpr int kStarted = 22;
  constexpr int kResident = 24;
  const auto open = line.find('(');
  const auto close = line.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open || close + 2 >= line.size())
    return std::nullopt;
  ProcessStat out;
  out.name = line.substr(open + 1, close - open - 1);
  out.state = line[close + 2];
  const char* at = line.data() + close + 3;
  const char* const end = line.data() + line.size();
  for (int field = kParent; field <= kResident; ++field) {
    while (at != end && *at == ' ') ++at;
    std::int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (next == at) return std::nullopt;
    at = next;
    if (field == kParent) out.parent = static_cast<pid_t>(value);
    if (field == kUser || field == kSystem) out.cpu_ticks += static_cast<std::uint64_t>(value);
    if (field == kThreads) out.threads = value;
    if (field == kStarted) out.started = static_cast<std::uint64_t>(value);
    if (field == kResident) out.resident_pages = value;
  }
  return out;
}

std::string Processes::file(pid_t pid, std::string_view name) const {
  return fmt::format("{}/{}/{}", proc_, pid, name);
}

std::vector<pid_t> Processes::all() const {
  std::vector<pid_t> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(proc_.c_str()), &::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr)
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0)
      out.push_back(static_cast<pid_t>(std::atol(entry->d_name)));
  return out;
}

std::optional<ProcessStat> Processes::stat(pid_t pid) const {
  const int fd = ::open(file(pid, "stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::array<char, 1024> text;
  const auto got = ::read(fd, text.data(), text.size());
  ::close(fd);
  if (got <= 0) return std::nullopt;
  return parse_stat({text.data(), static_cast<std::size_t>(got)});
}

std::string Processes::name(pid_t pid) const {
  return std::string(base::trim(base::read_file(file(pid, "comm")).value_or("")));
}

std::string Processes::command_line(pid_t pid, std::size_t longest) const {
  auto text = base::read_file(file(pid, "cmdline")).value_or("");
  if (text.size() > longest) text.resize(longest);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return std::string(base::trim(text));
}

std::vector<std::string> Processes::arguments(pid_t pid) const {
  auto text = base::read_file(file(pid, "cmdline")).value_or("");
  if (!text.empty() && text.back() == '\0') text.pop_back();
  return text.empty() ? std::vector<std::string>() : base::split(text, '\0');
}

std::string Processes::working_folder(pid_t pid) const {
  std::error_code ignored;
  return std::filesystem::read_symlink(file(pid, "cwd"), ignored).string();
}

std::string Processes::container(pid_t pid) const {
  return container_of(base::read_file(file(pid, "cgroup")).value_or(""));
}

std::optional<uid_t> Processes::owner(pid_t pid) const {
  struct ::stat about {};
  return ::stat(file(pid, "").c_str(), &about) == 0 ? std::optional(about.st_uid) : std::nullopt;
}

bool Processes::started_with(pid_t pid, const std::string& entry) const {
  const std::string end(1, '\0');
  return (end + base::read_file(file(pid, "environ")).value_or("")).find(end + entry + end) != std::string::npos;
}

std::string Processes::variable(pid_t pid, const std::string& name) const {
  for (const auto& entry : base::split(base::read_file(file(pid, "environ")).value_or(""), '\0'))
    if (entry.rfind(name + "=", 0) == 0) return entry.substr(name.size() + 1);
  return {};
}

bool Processes::has_no_environment(pid_t pid) const {
  const auto environment = base::read_file(file(pid, "environ"));
  return environment && environment->empty();
}

}  // namespace ridgeline::host
