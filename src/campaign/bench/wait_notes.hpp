// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "schema/message.hpp"
#include "schema/training_measurement.hpp"

namespace ridgeline::campaign {

/// What a loader worker waits for, by the system call that it is in.
enum class WaitKind { lock, file_lock, read, sleep, network, other };

}  // namespace ridgeline::campaign

template <>
struct ridgeline::base::EnumNames<ridgeline::campaign::WaitKind> {
  using enum campaign::WaitKind;
  static constexpr std::array names{std::pair{lock, "lock"},       std::pair{file_lock, "file_lock"},
                                    std::pair{read, "read"},       std::pair{sleep, "sleep"},
                                    std::pair{network, "network"}, std::pair{other, "other"}};
};

namespace ridgeline::campaign {

struct WaitPlace {
  std::string place;  ///< "train.py:30 in __getitem__"
  WaitKind kind = WaitKind::other;
  double share = 0;  ///< of the workers' waits
};
RL_DECLARE_JSON(WaitPlace)

/// What loader workers did while each made samples: python/ridgeline_train/worker_waits.py.
struct WorkerWaits {
  int workers = 0;
  double samples_per_s = 0;  ///< of all of them, if nothing but making samples held them up
  double waits = 0;          ///< share of a sample's time, neither computing nor in line for a CPU
  std::vector<WaitPlace> places;
};
RL_DECLARE_JSON(WorkerWaits)

/// A note on `several` workers (2 or more) against one: they wait for one another, each waits for itself, or they
/// compute.
[[nodiscard]] schema::Message workers_note(const WorkerWaits& one, const WorkerWaits& several);

/// A note on the calls of a step that read tensors on the host, with their lines; nullopt: there are none.
[[nodiscard]] std::optional<schema::Message> host_reads_note(const schema::TrainingMeasurement& measurement,
                                                             bool on_cpu);

}  // namespace ridgeline::campaign
