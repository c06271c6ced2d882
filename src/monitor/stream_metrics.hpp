// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "monitor/stream_view.hpp"

namespace ridgeline::monitor {

/// A stream in Prometheus' text format: counters since it was ready, rates and latencies of the last whole second.
[[nodiscard]] std::string stream_metrics_text(const StreamView& view);

}  // namespace ridgeline::monitor
