// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::base {

/// What a child process used, from wait4.
struct ResourceUsage {
  double user_cpu_s = 0;
  double system_cpu_s = 0;
  std::int64_t peak_rss_bytes = 0;
};

/// How a child ended: exactly one of exit_code and signal is set.
struct ExitStatus {
  std::optional<int> exit_code;
  std::optional<int> signal;
  ResourceUsage usage;
};

struct SubprocessOptions {
  std::vector<std::string> argv;                                 ///< argv[0] is a path, or a name looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment;  ///< set on top of the parent's
  std::vector<std::pair<int, int>> file_descriptors;             ///< {parent's, child's number}: passed on
  bool capture_output = true;  ///< stdout and stderr share one pipe, see Subprocess::output_fd; else inherited
  std::optional<std::uint64_t> address_space_bytes;  ///< RLIMIT_AS
  bool allow_core_dumps = false;
  /// The child takes our place before the user: our process group and terminal, our standard input, descriptors, limits
  /// and the signals' dispositions that we were started with. It outlives its object and our own end. Neither
  /// file_descriptors nor capture_output go with it.
  bool attached = false;
};

/// A child process in a process group of its own; stdin is /dev/null. Killed (whole group) and reaped by the
/// destructor, so no zombie or grandchild in the group outlives it; likewise what is left of the group when the child's
/// end is noticed by poll, wait or wait_for. The child also gets SIGKILL when the thread that spawned it ends.
/// An attached child (SubprocessOptions::attached) has none of this.
/// One thread at a time may use an object. Errors of spawn: not_found or io, naming the program and the reason.
///   RL_TRY_ASSIGN(auto child, Subprocess::spawn({.argv = {"/bin/true"}}));
///   const auto status = child.wait();
class Subprocess {
 public:
  [[nodiscard]] static Result<Subprocess> spawn(const SubprocessOptions& options);
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;
  ~Subprocess();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Read end (non-blocking) of the child's stdout and stderr; -1 when not captured.
  [[nodiscard]] int output_fd() const noexcept { return output_fd_; }
  /// The status once the child has ended, without blocking.
  [[nodiscard]] std::optional<ExitStatus> poll();
  /// Blocks until the child ends.
  ExitStatus wait();
  /// Blocks at most `limit`.
  [[nodiscard]] std::optional<ExitStatus> wait_for(std::chrono::nanoseconds limit);
  /// Sends `signal` to the child's whole group, or to an attached child alone; quiet when it is gone.
  void signal_group(int signal) noexcept;

 private:
  Subprocess() = default;
  void end() noexcept;
  ExitStatus reap() noexcept;
  bool has_ended(bool block) const noexcept;
  pid_t pid_ = -1;
  int output_fd_ = -1;
  bool attached_ = false;
  std::optional<ExitStatus> status_;
};

}  // namespace ridgeline::base
