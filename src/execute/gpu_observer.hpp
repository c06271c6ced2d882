// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gpu/busy_watch.hpp"
#include "gpu/telemetry_sampler.hpp"
#include "schema/measurement.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::execute {

/// The UUID of a TrialSpec::device "gpu:<uuid>"; "" for anything else.
[[nodiscard]] std::string gpu_uuid_of(const std::string& device);

/// A worker's view of the GPU that its trials run on. Kept from trial to trial: the sampler must have seen the GPU
/// before this process appeared on it.
class GpuObserver {
 public:
  explicit GpuObserver(std::vector<std::string> nvml_candidates = gpu::NvmlApi::default_candidates())
      : candidates_(std::move(nvml_candidates)) {}
  /// The parent's view: of the processes that it names (TelemetrySampler::Options::workers).
  explicit GpuObserver(std::function<std::vector<std::int64_t>()> workers) : GpuObserver() {
    sampler_options_.workers = std::move(workers);
  }

  /// That process works for this one: what it does on the GPU is no stranger's. It may have ended since.
  void add_worker(std::int64_t pid);

  /// `count` stopped processes of this run hold CUDA contexts on the GPU: they are not counted as neighbours.
  void expect_companions(int count);

  /// Starts a record when the spec runs on a GPU and none is open. Before the workload touches CUDA.
  void begin(const schema::TrialSpec& spec);
  /// nullptr while there is no record.
  [[nodiscard]] gpu::RoundWatch* watch() noexcept;
  /// Ends the record, if any, and adds it to the measurement: telemetry, metrics gpu_memory_gb and
  /// gpu_energy_mj_per_item, flags gpu_unobserved (why there is none) and gpu_memory_of_device. After the workload
  /// ended.
  void end(schema::Measurement& measurement);
  /// Ends the record, if any, and gives what there is of it: of a trial that has no measurement. After the workload
  /// ended.
  [[nodiscard]] std::optional<schema::GpuTelemetry> take();

 private:
  [[nodiscard]] base::Result<void> open(const std::string& uuid);

  const std::vector<std::string> candidates_;
  gpu::TelemetrySampler::Options sampler_options_;
  std::optional<base::Result<std::shared_ptr<const gpu::NvmlApi>>> api_;  ///< loaded once, absence included
  std::unique_ptr<gpu::TelemetrySampler> sampler_;
  std::optional<gpu::GpmReader> gpm_;   ///< of the sampler's GPU; nullopt: it has none
  std::optional<gpu::BusyWatch> busy_;  ///< of the open record
  bool open_ = false;
  int companions_ = 0;
  std::mutex mutex_;                   ///< of added_, which the sampler's thread reads
  std::vector<std::int64_t> added_{};  ///< by add_worker
  std::string problem_;
};

}  // namespace ridgeline::execute
