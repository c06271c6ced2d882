// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace ridgeline::execute {

/// Answers whether a signal was sent to our whole process group, as a terminal's Ctrl-C is, or to this process alone: a
/// child process in the group that does nothing and keeps signals pending.
class GroupWitness {
 public:
  GroupWitness() noexcept;
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;
  ~GroupWitness();

  /// Whether the group has had this signal, too. False if there is no witness; is_there() then.
  [[nodiscard]] bool has_had(int signal) const noexcept;
  [[nodiscard]] bool is_there() const noexcept { return pid_ > 0; }

 private:
  pid_t pid_ = -1;
};

}  // namespace ridgeline::execute
