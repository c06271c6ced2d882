// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "watch/latency_window.hpp"

namespace ridgeline::watch {

/// Where a service's own latencies come in.
class LatencyInput {
 public:
  virtual ~LatencyInput() = default;
  /// Adds what came since the last call.
  [[nodiscard]] virtual base::Result<void> read(LatencyWindow& window) = 0;
  [[nodiscard]] virtual base::Json position() const { return nullptr; }
  /// What people should know of the input, one line, reported once: that lines may be missing; "" for nothing.
  [[nodiscard]] virtual std::string take_note() { return {}; }
};

}  // namespace ridgeline::watch
