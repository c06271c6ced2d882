// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

/// The look in Prometheus' text format 0.0.4: base units, one HELP and TYPE a family, GPUs distinguished by `gpu` and
/// `uuid`. What is not known has no sample.
[[nodiscard]] std::string prometheus_text(const Snapshot& snapshot);

}  // namespace ridgeline::monitor
