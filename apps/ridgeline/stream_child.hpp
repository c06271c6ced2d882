// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "execute/gpu_choice.hpp"
#include "execute/stream_child.hpp"

namespace ridgeline::app {

/// A pipeline's process: this same binary, which sees the group's first GPU. Ends at a signal.
[[nodiscard]] execute::StreamChildOptions stream_child(const execute::GpuGroup& gpus);

/// The same for a run recorded on `device` (TrialSpec::device). Errors: that GPU is not in this machine.
[[nodiscard]] base::Result<execute::StreamChildOptions> stream_child_for(const std::string& device);

}  // namespace ridgeline::app
