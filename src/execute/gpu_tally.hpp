// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpm_reader.hpp"
#include "gpu/nvml_device.hpp"

namespace ridgeline::execute {

/// GPUs seen from outside while another program uses them: everything is the device's, not one process's. Where NVML or
/// a GPU is missing it is empty and costs nothing. One thread.
class GpuTally {
 public:
  GpuTally() = default;
  /// The GPUs of these UUIDs; those that cannot be opened are left out.
  explicit GpuTally(const std::vector<std::string>& uuids,
                    const std::vector<std::string>& nvml = gpu::NvmlApi::default_candidates());

  [[nodiscard]] bool empty() const noexcept { return devices_.empty(); }
  /// Starts anew; memory used now counts as somebody else's.
  void begin();
  /// One look, about 20 us a GPU, with GPM up to 0.6 ms.
  void look();
  /// Since begin(): gpu_busy (mean share of time with work, averaged over the GPUs: by GPM, of those without it by
  /// NVML), gpu_util (the same by NVML alone), gpu_memory_gb (peak above what was used at the beginning, summed over
  /// the GPUs), gpu_power_w (mean, summed). Without a look nothing.
  [[nodiscard]] std::map<std::string, double> metrics() const;
  /// Of the last look, for a display; nullopt when it is not known.
  [[nodiscard]] std::optional<double> busy_now() const noexcept { return busy_now_; }

 private:
  struct Watched {
    gpu::NvmlDevice device;
    std::optional<gpu::GpmReader> gpm;
  };
  [[nodiscard]] std::optional<std::int64_t> used_bytes() const;

  std::vector<Watched> devices_;
  std::int64_t used_before_ = 0;
  std::optional<std::int64_t> peak_;
  double busy_sum_ = 0;
  std::int64_t busy_looks_ = 0;
  double util_sum_ = 0;
  std::int64_t util_looks_ = 0;
  double power_sum_ = 0;
  std::int64_t power_looks_ = 0;
  std::optional<double> busy_now_;
};

}  // namespace ridgeline::execute
