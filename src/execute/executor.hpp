// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "execute/job.hpp"
#include "schema/environment.hpp"

namespace ridgeline::execute {

/// Runs jobs on slots, at most one at a time on each. What a job's failure says about its subject is an answer; an
/// Error is a fault of ours or of the user's call (no worker can be started at all, cancelled, out of time). One thread
/// at a time. Use the typed calls in execute/calls.hpp.
class Executor {
 public:
  virtual ~Executor() = default;
  /// At least one. All slots of a run are meant for like work; slot 0 also does what is done once.
  [[nodiscard]] virtual const std::vector<DeviceSlot>& slots() const = 0;
  /// The kinds of job that the slot can run.
  [[nodiscard]] virtual std::vector<std::string> capabilities(std::size_t slot) const = 0;
  /// The machine that the slot's jobs run on, as seen from there.
  [[nodiscard]] virtual base::Result<schema::Environment> environment(std::size_t slot) = 0;
  /// Errors: invalid_argument for a slot that there is not. Jobs for a busy slot wait for it.
  [[nodiscard]] virtual base::Result<JobId> submit(Job job) = 0;
  /// The next job that ends; nullopt: none is under way.
  [[nodiscard]] virtual std::optional<FinishedJob> wait_any() = 0;
  /// Ends all jobs under way and those that wait, each with ErrorCode::cancelled. Theirs still have to be fetched.
  virtual void cancel() = 0;
  /// Of the run, in which durations and TimeLeft count: a simulated one, or the system's.
  [[nodiscard]] virtual const base::Clock& clock() const noexcept { return base::system_clock(); }
};

}  // namespace ridgeline::execute
