// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/stream_child.hpp"

#include <unistd.h>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "ridgeline/worker_options.hpp"

namespace ridgeline::app {

execute::StreamChildOptions stream_child(const execute::GpuGroup& gpus) {
  execute::StreamChildOptions child;
  child.command = {base::executable_path().string(), "worker", "--stream"};
  if (!gpus.empty()) child.environment = execute::gpu_environment(gpus.front());
  child.input_fd = STDIN_FILENO;
  child.stopping = &base::cancel_requested;
  return child;
}

base::Result<execute::StreamChildOptions> stream_child_for(const std::string& device) {
  RL_TRY_ASSIGN(const auto gpus, gpus_of(device));
  return stream_child(gpus);
}

}  // namespace ridgeline::app
