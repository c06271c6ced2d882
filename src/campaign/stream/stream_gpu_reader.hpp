// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "gpu/gpm_reader.hpp"
#include "gpu/nvml_api.hpp"
#include "gpu/nvml_device.hpp"
#include "schema/stream_moment.hpp"

namespace ridgeline::campaign {

/// Reads the GPU that a stream runs on, once a second at most: the driver's own averages are no younger.
class StreamGpuReader {
 public:
  /// `device`: TrialSpec::device. Anything but "gpu:<uuid>", and a GPU that does not answer, reads as nullopt.
  StreamGpuReader(const std::string& device, const base::Clock& clock,
                  const std::vector<std::string>& nvml_candidates = gpu::NvmlApi::default_candidates());

  [[nodiscard]] const std::optional<schema::StreamGpu>& read();

 private:
  const base::Clock& clock_;
  std::optional<gpu::NvmlDevice> device_;
  std::optional<gpu::GpmReader> gpm_;  ///< none before Hopper
  std::optional<base::Nanoseconds> read_at_;
  std::optional<schema::StreamGpu> latest_;
};

}  // namespace ridgeline::campaign
