// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "stream/dispatcher.hpp"
#include "stream/flow_meter.hpp"
#include "stream/load_schedule.hpp"
#include "stream/simulated_device.hpp"
#include "stream/stream_scheduler.hpp"

namespace ridgeline::stream {

struct SimulationOptions {
  DispatcherOptions dispatcher;
  BatchShape shape = BatchShape::exact;
  DeviceModel device;
  std::int64_t slo_ns = 0;  ///< from a frame's intended time to its deadline; 0: no deadlines
  double failures = 0;      ///< the share of batches that fail
  std::vector<Freeze> freezes{};
  std::size_t order_window = StreamScheduler::kOrderWindow;
  std::uint64_t seed = 1;
  /// Every frame as it leaves; in virtual time.
  std::function<void(const FrameResult&)> on_result{};
  /// What was decided, a line an event: "TIME_NS EVENT WHAT", frames as SOURCE:SEQUENCE. The same options, arrivals and
  /// seed give the same bytes. Not written when null.
  std::string* log = nullptr;
};

/// The pipeline in virtual time: the same scheduler as the real one, a simulated device, and nothing that waits. With
/// DropPolicy::none a frame that has to wait keeps those behind it of its source waiting too, and its latency counts
/// from entering the queue. About 0.3 us a frame. Returns what the pipeline counted once all frames have left; internal
/// when the scheduler contradicts itself.
[[nodiscard]] base::Result<FlowMeter> simulate(const SimulationOptions& options, std::span<const Arrival> arrivals);

}  // namespace ridgeline::stream
