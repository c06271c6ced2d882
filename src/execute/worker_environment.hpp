// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ridgeline::execute {

/// Variables of this process by which providers take settings that no configuration names (ORT_TENSORRT_*,
/// ORT_OPENVINO_*), as "NAME=value" by name. Workers go without them.
[[nodiscard]] std::vector<std::string> ignored_variables();

/// Removes them. For a worker, before it has threads.
void clean_worker_environment();

}  // namespace ridgeline::execute
