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
  double jitter = 0;     ///< sigma of a log-normal factor with median 1
  bool shared = false;   ///< k batches that run at once take k times as long each; otherwise each has its own device
  double copy_ns = 0;    ///< a frame's way to the device; batches are copied one after another
  double decode_ns = 0;  ///< a frame's results on the host, after its batch has left the device
  /// Of `shared`: what k batches at once get done over what one alone does, for k = 1, 2 ...; the last holds for more.
  /// Empty: 1.
  std::vector<double> concurrency{};
};

/// Sessions of the workers, as DispatcherOptions has them: batches of one session run in the order of their launches.
struct SimulatedSessions {
  std::uint32_t workers = 1;
  std::uint32_t sessions = 0;
  std::uint32_t session_batches = 1;
};

/// A worker that makes no progress for a while.
struct Freeze {
  std::uint32_t worker = 0;
  std::int64_t at_ns = 0;
  std::int64_t for_ns = 0;
};

/// Workers on a simulated device, in virtual time: a batch is copied, computed and decoded. The same seed gives the
/// same times.
class SimulatedDevice {
 public:
  SimulatedDevice(const DeviceModel& model, const SimulatedSessions& sessions, std::vector<Freeze> freezes,
                  std::uint64_t seed);

  /// What a warm-up would measure: eight times for 1, 2, 4, ... and for max_batch; where workers share sessions, with
  /// as many batches at once as will run.
  [[nodiscard]] std::vector<WarmUpTimes> warm_up(std::uint32_t max_batch);

  void start(std::uint32_t worker, std::uint32_t executed_size);
  /// When the state changes next if nothing is started: a part of a batch ends, or a worker freezes or goes on.
  [[nodiscard]] std::optional<std::int64_t> next_event() const;
  /// To a time not after the next event. Appends the workers that complete then, and those whose batch has left the
  /// device, by number.
  void advance(std::int64_t now_ns, std::vector<std::uint32_t>& completed, std::vector<std::uint32_t>& left);

 private:
  enum class Part { none, copy, compute, decode };
  struct Worker {
    Part part = Part::none;
    bool frozen = false;
    std::uint64_t order = 0;  ///< of its launch
    std::uint32_t size = 0;
    double remaining_ns = 0;  ///< of the part, were it alone
    double compute_ns = 0;    ///< of its batch
  };

  [[nodiscard]] double draw(std::uint32_t executed_size);
  [[nodiscard]] std::uint32_t session_of(std::uint32_t worker) const noexcept;
  /// Whether its part goes on now: of copies and of each session's batches the first launched do.
  [[nodiscard]] bool progresses(std::uint32_t worker) const noexcept;
  /// How many times as long each batch that is computed takes now.
  [[nodiscard]] double slowdown() const noexcept;
  /// Its next part that takes any time; false: the batch is done.
  bool begin_next(Worker& worker) const noexcept;

  DeviceModel model_;
  SimulatedSessions sessions_;
  std::vector<Worker> workers_;
  std::vector<Freeze> freezes_;
  base::Random random_;
  std::uint64_t launches_ = 0;
  std::int64_t now_ns_ = 0;
};

}  // namespace ridgeline::stream
