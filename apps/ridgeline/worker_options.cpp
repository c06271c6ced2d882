// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/worker_options.hpp"

#include "base/cancel.hpp"
#include "base/file.hpp"

namespace ridgeline::app {

execute::WorkerOptions worker_options(execute::Isolation isolation) {
  execute::WorkerOptions options;
  options.command = {base::executable_path().string(), "worker"};
  options.isolation = isolation;
  options.cancelled = &base::cancel_requested;
  return options;
}

}  // namespace ridgeline::app
