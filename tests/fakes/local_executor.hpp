// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "execute/calls.hpp"
#include "execute/local_transport.hpp"
#include "execute/slot_executor.hpp"
#include "execute/training_jobs.hpp"
#include "execute/worker_jobs.hpp"

namespace ridgeline::fakes {

template <typename Options>
std::unique_ptr<execute::Executor> one_slot_executor(Options options, void (*add)(execute::LocalTransport&, Options),
                                                     std::shared_ptr<const base::Clock> clock) {
  std::vector<execute::SlotExecutor::Slot> slots;
  const auto cancelled = options.cancelled;
  slots.push_back({{"cpu", {}}, [options, add](std::function<bool()> cancel) mutable {
                     options.cancelled = std::move(cancel);
                     auto transport = std::make_unique<execute::LocalTransport>();
                     add(*transport, std::move(options));
                     return transport;
                   }});
  return std::make_unique<execute::SlotExecutor>(std::move(slots), cancelled, std::move(clock));
}

/// Real workers, on one slot.
inline std::unique_ptr<execute::Executor> make_local_executor(execute::WorkerOptions options) {
  return one_slot_executor(std::move(options), &execute::add_worker_jobs, nullptr);
}

/// Training trials of the caller's process.
inline std::unique_ptr<execute::Executor> make_training_executor(execute::TrainingOptions options) {
  const auto clock = options.clock;
  return one_slot_executor(std::move(options), &execute::add_training_jobs, clock);
}

}  // namespace ridgeline::fakes
