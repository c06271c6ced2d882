// SPDX-License-Identifier: Apache-2.0
#include "host/prompt_thread.hpp"

#include <pthread.h>
#include <sched.h>

namespace ridgeline::host {

PromptThread::PromptThread() noexcept {
  sched_param param{};
  param.sched_priority = 1;
  is_allowed_ = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &param) == 0;
}

PromptThread::~PromptThread() {
  const sched_param param{};
  if (is_allowed_) ::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &param);
}

}  // namespace ridgeline::host
