// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "stream/service_model.hpp"

namespace ridgeline::stream {

/// A device on which a batch of n takes alpha + beta * n.
struct DeviceModel {
  double alpha_ns = 0;
  double beta_ns = 0;
  double jitter = 0;    ///< sigma of a log-normal factor with median 1
  bool shared = false;  ///< k workers that run at once take k times as long each; otherwise each has its own device
};

/// A worker that makes no progress for a while.
struct Freeze {
  std::uint32_t worker = 0;
  std::int64_t at_ns = 0;
  std::int64_t for_ns = 0;
};

/// Workers on a simulated device, in virtual time. The same seed gives the same times.
class SimulatedDevice {
 public:
  SimulatedDevice(const DeviceModel& model, std::uint32_t workers, std::vector<Freeze> freezes, std::uint64_t seed);

  /// What a warm-up would measure: eight times for 1, 2, 4, ... and for max_batch.
  [[nodiscard]] std::vector<WarmUpTimes> warm_up(std::uint32_t max_batch);

  void start(std::uint32_t worker, std::uint32_t executed_size);
  /// When the state changes next if nothing is started: a batch completes, or a worker freezes or goes on.
  [[nodiscard]] std::optional<std::int64_t> next_event() const;
  /// To a time not after the next event. Appends the workers that complete then, by number.
  void advance(std::int64_t now_ns, std::vector<std::uint32_t>& completed);

 private:
  struct Worker {
    bool busy = false;
    bool frozen = false;
    double remaining_ns = 0;  ///< of its batch, were it alone
  };

  [[nodiscard]] double draw(std::uint32_t executed_size);
  /// How many times as long each batch takes now.
  [[nodiscard]] double slowdown() const noexcept;

  DeviceModel model_;
  std::vector<Worker> workers_;
  std::vector<Freeze> freezes_;
  base::Random random_;
  std::int64_t now_ns_ = 0;
};

}  // namespace ridgeline::stream
