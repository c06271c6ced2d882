// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "execute/shared_memory.hpp"
#include "measure/measurement_session.hpp"

namespace ridgeline::execute {

/// What the worker is doing, in memory that parent and worker share: the parent still reads the exact phase and step
/// after a sudden death, and the worker makes no system call for it while it is timing. Constructed by the parent.
struct WorkerStatus {
  std::atomic<std::uint64_t> beats{0};  ///< the heartbeat, ten a second
  std::atomic<std::int64_t> cpu_ns{0};  ///< processor time of the worker, and of its processes outside timed phases
  measure::MeasureControl control;      ///< phase and steps; `cancel` may be set by the parent
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<schema::TrialPhase>::is_always_lock_free);

/// Session creation and the verification report no steps; there, using the processor counts as progress.
[[nodiscard]] inline bool works_without_steps(schema::TrialPhase phase) noexcept {
  return phase != schema::TrialPhase::warmup && phase != schema::TrialPhase::measure;
}

using SharedStatus = SharedMemory<WorkerStatus>;

}  // namespace ridgeline::execute
