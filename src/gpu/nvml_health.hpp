// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/nvml_api.hpp"

namespace ridgeline::gpu {

/// Errors of a GPU's memory. nullopt: not counted by this GPU.
struct EccCounts {
  std::optional<std::uint64_t> uncorrected_since_boot;  ///< since the driver was loaded
  std::optional<std::uint64_t> uncorrected_ever;        ///< in the life of the card
  std::optional<std::uint64_t> corrected_since_boot;
};

/// Rows of GPU memory that were replaced by spare ones (Ampere and later).
struct RemappedRows {
  unsigned correctable = 0;
  unsigned uncorrectable = 0;
  bool pending = false;  ///< takes effect at the next reset of the GPU
  bool failed = false;   ///< no spare row was left
};

/// What tells a sound GPU from a failing or misconfigured one: readings that only `doctor` wants, so they are looked up
/// here rather than in every NvmlApi. Whatever this GPU, driver or user may not read is nullopt. Thread-safe.
class NvmlHealth {
 public:
  NvmlHealth(std::shared_ptr<const NvmlApi> api, nvml::Device device) : api_(std::move(api)), device_(device) {}

  [[nodiscard]] EccCounts ecc() const;
  [[nodiscard]] std::optional<RemappedRows> remapped_rows() const;
  /// "default", "exclusive_process", "prohibited" ...
  [[nodiscard]] std::optional<std::string> compute_mode() const;
  /// Instances that exist on a GPU in MIG mode.
  [[nodiscard]] std::optional<int> mig_instances() const;

 private:
  std::shared_ptr<const NvmlApi> api_;
  nvml::Device device_;
};

/// Functions that Ridgeline would call and this library does not have: "nvmlDeviceGetRemappedRows".
[[nodiscard]] std::vector<std::string> missing_functions(const NvmlApi& api);

}  // namespace ridgeline::gpu
