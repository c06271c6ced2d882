// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stream/lateness_audit.hpp"
#include "stream/load_schedule.hpp"
#include "stream/pipeline.hpp"

namespace ridgeline::stream {

/// A source's pictures, decoded before the run, over and over.
using Clip = std::vector<std::shared_ptr<const Image>>;

/// Issues frames at the times of a schedule, whether or not the pipeline keeps up, and records how late it was itself:
/// it sleeps until `spin_ns` before a frame is due and then spins. Blocks; returns early when the pipeline ends.
/// `clips`: one a source, none of them empty; their pictures are handed out by reference.
void feed_load(const std::vector<Arrival>& schedule, const std::vector<Clip>& clips, Pipeline& pipeline,
               const base::Clock& clock, std::int64_t spin_ns, LatenessAudit& audit);

/// How long before a frame is due a thread of this priority has to stop sleeping here: half as much again as what the
/// worst of 20 sleeps of 2 ms was late by, and at most 2 ms.
[[nodiscard]] std::int64_t measure_spin_ns(const base::Clock& clock);

/// As fast as the pipeline takes them, the sources in turns, for that long: its peak.
void feed_offline(const std::vector<Clip>& clips, std::int64_t duration_ns, Pipeline& pipeline,
                  const base::Clock& clock);

}  // namespace ridgeline::stream
