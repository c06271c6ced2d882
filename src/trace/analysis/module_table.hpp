// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// The module tree with its times: the root first, parents before children. Every kernel, copy and node is in it.
[[nodiscard]] std::vector<schema::ProfileModule> module_rows(const AnalysedTrace& analysed);

}  // namespace ridgeline::trace
