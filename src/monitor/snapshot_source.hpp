// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "gpu/nvml_api.hpp"
#include "monitor/gpu_probe.hpp"
#include "monitor/host_probe.hpp"
#include "monitor/process_reader.hpp"
#include "monitor/sleeping_gpus.hpp"
#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

struct SourceOptions {
  std::vector<std::string> nvml = gpu::NvmlApi::default_candidates();
  std::filesystem::path sysfs = "/sys";
  std::string devices = "all";  ///< or numbers and beginnings of UUIDs, joined by commas
  bool measure_pcie = false;    ///< see GpuProbe
};

/// Looks at the machine: GPUs by NVML, the rest by /proc. A GPU that the system has put to sleep is never asked
/// anything, nor is NVML even opened while all of them sleep. Without NVML the host is shown with the reason. Not
/// thread-safe.
class SnapshotSource {
 public:
  /// Errors: not_found for a device that is not there, naming those that are.
  [[nodiscard]] static base::Result<SnapshotSource> open(SourceOptions options, const base::Clock& clock);

  /// Never fails: what cannot be read is missing, with a note.
  [[nodiscard]] Snapshot look();

 private:
  struct Slot {
    int index = 0;
    std::string address;  ///< "" when unknown
    std::optional<GpuProbe> probe;
    GpuReading last;  ///< what is known while it sleeps
  };

  SnapshotSource(SourceOptions options, const base::Clock& clock);
  void open_nvml();
  void find_gpus();
  void open_probe(Slot& slot);
  void open_awake();
  [[nodiscard]] base::Result<void> select(const std::string& devices);
  [[nodiscard]] std::string listed() const;

  SourceOptions options_;
  const base::Clock* clock_;
  std::shared_ptr<const gpu::NvmlApi> api_;
  std::string no_nvml_;  ///< why it could not be opened
  std::string driver_version_;
  std::vector<Slot> slots_;
  HostProbe host_;
  ProcessReader processes_;
  base::Nanoseconds started_;
  std::optional<base::Nanoseconds> before_;
};

}  // namespace ridgeline::monitor
