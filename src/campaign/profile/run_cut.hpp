// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "trace/trace.hpp"

namespace ridgeline::campaign {

/// The events of ONNX Runtime's profile from its Run() call number `first` on, with nodes named by their places in the
/// model where `paths` tells. What the session did before is left out.
[[nodiscard]] trace::Trace counted_runs(const trace::Trace& all, std::int64_t first,
                                        const std::map<std::string, std::string>& paths);

}  // namespace ridgeline::campaign
