// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpm_reader.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace ridgeline::gpu {
namespace {

using base::ErrorCode;

struct Metric {
  unsigned id;  ///< nvmlGpmMetricId_t
  double scale;
  std::optional<double> GpmReading::*member;
};

constexpr double kMiBPerSecond = 1024.0 * 1024.0;
constexpr std::array<Metric, 9> kMetrics{{{1, 1, &GpmReading::graphics_percent},
                                          {2, 1, &GpmReading::sm_percent},
                                          {3, 1, &GpmReading::occupancy_percent},
                                          {5, 1, &GpmReading::tensor_percent},
                                          {10, 1, &GpmReading::dram_percent},
                                          {20, kMiBPerSecond, &GpmReading::pcie_sent_per_s},
                                          {21, kMiBPerSecond, &GpmReading::pcie_received_per_s},
                                          {60, kMiBPerSecond, &GpmReading::nvlink_received_per_s},
                                          {61, kMiBPerSecond, &GpmReading::nvlink_sent_per_s}}};

}  // namespace

base::Result<GpmReader> GpmReader::open(std::shared_ptr<const NvmlApi> api, nvml::Device device,
                                        std::optional<unsigned> slice) {
  const auto& f = api->functions();
  if (f.gpm_support == nullptr || f.gpm_sample_alloc == nullptr || f.gpm_sample_free == nullptr ||
      f.gpm_sample_get == nullptr || f.gpm_metrics_get == nullptr || (slice && f.gpm_mig_sample_get == nullptr))
    return base::fail(ErrorCode::unsupported, "GPM needs driver 525 or later");
  nvml::GpmSupport support{1, 0};
  if (const auto status = f.gpm_support(device, &support); status != nvml::kSuccess)
    return tl::unexpected<base::Error>(api->error(status, "GPM"));
  if (support.supported == 0) return base::fail(ErrorCode::unsupported, "GPM needs Hopper or later");
  GpmReader reader(std::move(api), device, slice);
  RL_TRY_ASSIGN(reader.before_, reader.allocate());
  RL_TRY_ASSIGN(reader.after_, reader.allocate());
  return reader;
}

base::Result<GpmReader::Sample> GpmReader::allocate() const {
  nvml::GpmSample sample = nullptr;
  if (const auto status = api_->functions().gpm_sample_alloc(&sample); status != nvml::kSuccess)
    return tl::unexpected<base::Error>(api_->error(status, "GPM: making room for a sample"));
  return Sample(sample, [api = api_](nvml::GpmSample used) { api->functions().gpm_sample_free(used); });
}

std::optional<GpmReading> GpmReader::read() {
  const auto& f = api_->functions();
  const auto status =
      slice_ ? f.gpm_mig_sample_get(device_, *slice_, after_.get()) : f.gpm_sample_get(device_, after_.get());
  if (status != nvml::kSuccess) {
    has_before_ = false;
    return std::nullopt;
  }
  std::optional<GpmReading> reading;
  if (has_before_) {
    nvml::GpmMetrics request{};
    request.version = 1;
    request.count = static_cast<unsigned>(kMetrics.size());
    request.before = before_.get();
    request.after = after_.get();
    for (std::size_t i = 0; i < kMetrics.size(); ++i) request.metrics[i].id = kMetrics[i].id;
    if (f.gpm_metrics_get(&request) == nvml::kSuccess) {
      reading.emplace();
      for (std::size_t i = 0; i < kMetrics.size(); ++i)
        // Seen on an H200: success with not-a-number, when the two looks were too close for a counter.
        if (request.metrics[i].status == nvml::kSuccess && std::isfinite(request.metrics[i].value))
          (*reading).*kMetrics[i].member = request.metrics[i].value * kMetrics[i].scale;
    }
  }
  std::swap(before_, after_);
  has_before_ = true;
  return reading;
}

}  // namespace ridgeline::gpu
