// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::host {

/// While it lives its thread runs as soon as it is due, before ordinary threads of all processes, where the system
/// allows that (SCHED_FIFO: root, CAP_SYS_NICE or a limit of RLIMIT_RTPRIO). For a thread that mostly sleeps.
class PromptThread {
 public:
  PromptThread() noexcept;
  ~PromptThread();
  PromptThread(const PromptThread&) = delete;
  PromptThread& operator=(const PromptThread&) = delete;

  [[nodiscard]] bool is_allowed() const noexcept { return is_allowed_; }

 private:
  bool is_allowed_ = false;
};

}  // namespace ridgeline::host
