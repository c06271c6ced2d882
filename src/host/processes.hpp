// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::host {

/// A line of /proc/PID/stat.
struct ProcessStat {
  std::string name;
  char state = '?';
  pid_t parent = 0;
  std::int64_t threads = 0;
  std::uint64_t cpu_ticks = 0;  ///< of user and system
  std::uint64_t started = 0;    ///< ticks after boot
  std::int64_t resident_pages = 0;

  /// Waits to be reaped. A process whose first thread has ended looks like a zombie while the others go on.
  [[nodiscard]] bool ended() const noexcept { return state == 'X' || (state == 'Z' && threads <= 1); }
};

/// nullopt for a line that is cut or malformed.
[[nodiscard]] std::optional<ProcessStat> parse_stat(std::string_view line);

/// The processes below a root's proc folder. What has ended, or may not be seen, is nullopt or "".
class Processes {
 public:
  explicit Processes(const std::filesystem::path& root = "/") : proc_((root / "proc").string()) {}
  /// The threads of this process, each like a process of its own.
  [[nodiscard]] static Processes own_threads() { return Processes("/", "proc/self/task"); }

  [[nodiscard]] std::vector<pid_t> all() const;
  /// Costs a few microseconds.
  [[nodiscard]] std::optional<ProcessStat> stat(pid_t pid) const;
  [[nodiscard]] std::string name(pid_t pid) const;
  /// The arguments joined by blanks, without control characters; cut to `longest` bytes.
  [[nodiscard]] std::string command_line(pid_t pid, std::size_t longest) const;
  [[nodiscard]] std::vector<std::string> arguments(pid_t pid) const;
  /// The folder that it works in.
  [[nodiscard]] std::string working_folder(pid_t pid) const;
  /// As container_of.
  [[nodiscard]] std::string container(pid_t pid) const;
  [[nodiscard]] std::optional<uid_t> owner(pid_t pid) const;
  /// Whether it was started with that entry ("NAME=value") in its environment.
  [[nodiscard]] bool started_with(pid_t pid, const std::string& entry) const;
  /// Of the environment that it was started with; "": not set, or may not be read.
  [[nodiscard]] std::string variable(pid_t pid, const std::string& name) const;
  /// Whether its environment may be read and is empty, as it is for some milliseconds while exec loads a program.
  [[nodiscard]] bool has_no_environment(pid_t pid) const;

 private:
  Processes(const std::filesystem::path& root, const char* folder) : proc_((root / folder).string()) {}
  [[nodiscard]] std::string file(pid_t pid, std::string_view name) const;

  std::string proc_;
};

}  // namespace ridgeline::host
