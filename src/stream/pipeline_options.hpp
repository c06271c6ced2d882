// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.hpp"
#include "stream/dispatcher.hpp"
#include "stream/service_model.hpp"
#include "stream/stream_scheduler.hpp"

namespace ridgeline::stream {

struct PipelineOptions {
  DispatcherOptions dispatcher;
  std::vector<std::uint32_t> warm_sizes{1};  ///< batch sizes that run before the first frame; max_batch is among them
  std::uint32_t warm_runs = 3;               ///< timed ones of each size, on every worker; one more goes before them
  BatchShape shape = BatchShape::exact;
  /// From the time when a paced frame was due to its deadline; 0: no deadlines.
  std::int64_t slo_ns = 0;
  std::uint64_t every = 1;  ///< of each source every Nth frame is run, from the first one; the others are skipped
  std::size_t result_queue = 256;  ///< results that wait for the sink; sources that can wait do so while it is full
  /// Pictures of results that wait for those before them or for the sink, and of frames that were dropped; others go
  /// without. Above it only where sources cannot wait, or a worker does not answer.
  [[nodiscard]] std::size_t most_images() const noexcept {
    return result_queue + dispatcher.capacity + std::size_t{dispatcher.workers} * dispatcher.max_batch;
  }
  std::size_t order_window = StreamScheduler::kOrderWindow;
  /// Batches that fail one after another, from the first or the last good one on, before the run is given up.
  std::uint32_t most_failures = 20;
  /// Batches that the warm-up ran in less are run by the thread that brings the frame: waking another takes longer.
  std::int64_t hand_over_ns = 5'000;
  /// How many frames of a source have been taken; told before they can run, so that none is lost from the count when
  /// the process dies. Under the pipeline's lock.
  std::function<void(std::uint32_t source, std::uint64_t taken)> on_taken{};
  const base::Clock* clock = &base::system_clock();
};

}  // namespace ridgeline::stream
