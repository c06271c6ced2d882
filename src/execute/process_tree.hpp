// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ridgeline::execute {

/// What /proc tells about all processes that descend from one.
struct TreeReading {
  std::vector<pid_t> processes;  ///< without zombies and without the root
  std::int64_t rss_bytes = 0;    ///< summed over them; pages that several share count several times
};

/// One look through /proc, in the order of discovery (parents before children). Costs about 10 us a process of the
/// machine.
[[nodiscard]] TreeReading read_tree(pid_t root);

/// Reaps ended children of this process other than `keep` (0: none is kept).
void reap_children(pid_t keep) noexcept;

/// Whether this process has children, ended ones that nobody has reaped included. Of a child subreaper without any, no
/// descendant is left.
[[nodiscard]] bool has_children() noexcept;

/// Sends SIGTERM to everything that descends from this process, which must be a child subreaper with no children of
/// other use, waits up to `grace_s` for all to end, then sends SIGKILL until no child is left, at most 2 s more.
/// `reaped` receives every child's wait status. Returns how many processes were still there at the end: 0, unless the
/// kernel holds some, or some fork faster than they can be found.
int end_descendants(double grace_s, const std::function<void(pid_t, int)>& reaped);

/// SIGKILLs what `find` returns until that is nothing, at most `limit_s`. Returns how many it still found then.
int kill_until_none(const std::function<std::vector<pid_t>()>& find, double limit_s = 2);

/// What tells all that one child starts from everybody else's: a variable of its environment, "1234-5678".
[[nodiscard]] std::string mark_of_a_life();

/// SIGKILLs what a child of this process has started, in whatever session or group: everything that descends from
/// `root` (which is stopped first, so that it starts no more, and not killed itself; nullopt: it has ended), and, as
/// that misses what has lost its parents, every process with `mark` ("NAME=value", which the child was started with) in
/// its environment. For a process that cannot be a child subreaper because it has other children; what clears its
/// environment and outlives its parents escapes. Returns how many were left after 2 s.
int end_detached(std::optional<pid_t> root, const std::string& mark);

}  // namespace ridgeline::execute
