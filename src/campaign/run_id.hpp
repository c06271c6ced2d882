// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/clock.hpp"

namespace ridgeline::campaign {

/// "20261121-081500-3f2a" for a run that started at `utc` ("2026-11-21T08:15:00Z"); the tail keeps runs of one second
/// apart.
[[nodiscard]] std::string make_run_id(const base::Clock& clock, const std::string& utc,
                                      const std::string& command_line);

}  // namespace ridgeline::campaign
