// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "gpu/nvml_device.hpp"
#include "gpu/round_watch.hpp"
#include "schema/gpu_telemetry.hpp"

namespace ridgeline::gpu {

/// Samples one GPU from a thread of its own while a trial runs. It only reads, makes no CUDA call and never touches the
/// timed thread. Fine mode (until begin_timing): memory every few ms, so that no peak of session creation is missed.
/// Coarse mode: everything that costs microseconds. The counters that cost milliseconds (energy, throttling) are read
/// by the calling thread at the edges of timed parts. One caller thread; lives as long as its worker process and should
/// be made before the process touches CUDA, so that it can tell its own entry in the process list.
class TelemetrySampler final : public RoundWatch {
 public:
  struct Options {
    base::Nanoseconds fine = std::chrono::milliseconds(3);
    base::Nanoseconds coarse = std::chrono::milliseconds(50);
    std::int64_t pid = 0;  ///< 0: this process's own
    /// For a process that watches over others: the numbers of those that belong to it now. Instead of `pid`; any
    /// thread.
    std::function<std::vector<std::int64_t>()> workers{};
    std::size_t max_samples = 600;  ///< every second one is dropped when there are more
  };

  /// Errors: not_found (no such GPU), out_of_memory (no thread).
  [[nodiscard]] static base::Result<std::unique_ptr<TelemetrySampler>> make(std::shared_ptr<const NvmlApi> api,
                                                                            const std::string& uuid, Options options);
  [[nodiscard]] static base::Result<std::unique_ptr<TelemetrySampler>> make(std::shared_ptr<const NvmlApi> api,
                                                                            const std::string& uuid) {
    return make(std::move(api), uuid, Options{});
  }
  ~TelemetrySampler() override;

  [[nodiscard]] const std::string& uuid() const noexcept { return uuid_; }

  /// From now on, `count` of the processes on the GPU are idle ones of this run and not neighbours.
  void expect_companions(int count);
  /// Starts a new record in fine mode.
  void begin_trial();
  void begin_timing() override;
  void begin_part() override;
  [[nodiscard]] RoundReading end_part() override;
  void end_timing(const TimedTotals& totals) override;
  [[nodiscard]] std::optional<int> neighbours() override;
  /// Stops sampling and gives the record. To be called when the workload has given its memory back.
  [[nodiscard]] schema::GpuTelemetry end_trial();

 private:
  enum class Mode { idle, fine, coarse };

  TelemetrySampler(NvmlDevice device, std::string uuid, Options options);
  void serve();
  void sample(Mode mode);
  void keep(const schema::GpuSample& sample, Mode mode);
  void forget_part();
  void switch_to(Mode mode);
  [[nodiscard]] double now_s() const;
  /// The entries of `list` that are this process's or its workers'. Needs the lock.
  [[nodiscard]] std::vector<const schema::GpuNeighbour*> find_own(const std::vector<schema::GpuNeighbour>& list);
  /// Entry of this process in `list`; nullptr when it is not listed or cannot be distinguished from others. Needs the
  /// lock.
  void drop_companions(std::vector<schema::GpuNeighbour>& list) const;
  [[nodiscard]] const schema::GpuNeighbour* find_self(const std::vector<schema::GpuNeighbour>& list);
  [[nodiscard]] std::optional<std::vector<schema::GpuNeighbour>> others();

  const NvmlDevice device_;
  const std::string uuid_;
  const Options options_;
  const std::set<std::int64_t> strangers_;  ///< listed before this process could have been
  std::optional<std::int64_t> idle_bytes_;  ///< used of the device then

  // Of the calling thread.
  std::optional<std::int64_t> high_water_before_;
  ThrottleCounters window_counters_;
  ThrottleCounters part_counters_;
  std::optional<std::uint64_t> window_energy_mj_;

  std::mutex mutex_;  // guards everything below
  std::condition_variable wake_;
  Mode mode_ = Mode::idle;
  bool closing_ = false;
  base::Nanoseconds begun_{0};
  int companions_ = 0;
  std::int64_t self_ = 0;   ///< this process's number in the list; 0: not known yet
  double least_gap_s_ = 0;  ///< between kept samples; doubled whenever they are thinned out
  std::vector<double> part_clocks_;
  std::optional<int> part_others_;
  std::size_t part_looks_ = 0;       ///< samples of the part that have clock reasons
  std::size_t part_held_looks_ = 0;  ///< those of them with one that throttles the clocks
  schema::GpuTelemetry record_;
  std::jthread thread_;
};

}  // namespace ridgeline::gpu
