// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

/// What throttles a GPU's clocks now, and what did since the start.
struct SlowdownText {
  std::string now;    ///< "now by power limit"; "" when nothing does
  std::string times;  ///< " · since start: power limit 1:12 (34 %)"
};

/// As long a form as fits in `room` columns: each cause by itself and again with its time, each once with its time and
/// share, or without the shares.
[[nodiscard]] SlowdownText slowdown_text(const GpuReading& gpu, double since_start_s, int room);

/// "power limit, heat", in brief "power, heat".
[[nodiscard]] std::string reasons_text(const GpuReading& gpu, bool brief = false);

}  // namespace ridgeline::monitor
