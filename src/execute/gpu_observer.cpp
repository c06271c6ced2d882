// SPDX-License-Identifier: Apache-2.0
#include "execute/gpu_observer.hpp"

#include <signal.h>

#include <string_view>
#include <utility>

#include "execute/messages.hpp"

namespace ridgeline::execute {

std::string gpu_uuid_of(const std::string& device) {
  constexpr std::string_view kPrefix = "gpu:";
  return device.rfind(kPrefix, 0) == 0 ? device.substr(kPrefix.size()) : "";
}

void GpuObserver::add_worker(std::int64_t pid) {
  const std::lock_guard lock(mutex_);
  std::erase_if(added_, [](std::int64_t one) { return ::kill(static_cast<pid_t>(one), 0) != 0; });
  added_.push_back(pid);
}

void GpuObserver::expect_companions(int count) {
  companions_ = count;
  if (sampler_) sampler_->expect_companions(count);
}

void GpuObserver::begin(const schema::TrialSpec& spec) {
  if (open_ || !spec.on_gpu()) return;
  if (!sampler_options_.workers && schema::provider_of(spec.provider).own_process)
    sampler_options_.workers = [this] {
      const std::lock_guard lock(mutex_);
      return added_;
    };
  problem_.clear();
  if (auto opened = open(gpu_uuid_of(spec.device)); !opened) {
    problem_ = std::move(opened.error().message);
    return;
  }
  sampler_->begin_trial();
  if (gpm_) busy_.emplace(*sampler_, *gpm_, gpu::BusyWatch::Before::pause);
  open_ = true;
}

gpu::RoundWatch* GpuObserver::watch() noexcept {
  if (!open_) return nullptr;
  return busy_ ? static_cast<gpu::RoundWatch*>(&*busy_) : sampler_.get();
}

base::Result<void> GpuObserver::open(const std::string& uuid) {
  if (sampler_ && sampler_->uuid() == uuid) return {};
  busy_.reset();
  gpm_.reset();
  sampler_.reset();
  if (uuid.empty()) return base::fail(base::ErrorCode::unavailable, "the UUID of the trial's GPU is not known");
  if (!api_) api_ = gpu::NvmlApi::load(candidates_);
  if (!*api_) return tl::unexpected<base::Error>(api_->error());
  RL_TRY_ASSIGN(sampler_, gpu::TelemetrySampler::make(**api_, uuid, sampler_options_));
  RL_TRY_ASSIGN(const auto device, (**api_)->device_by_uuid(uuid));
  if (auto gpm = gpu::GpmReader::open(**api_, device)) gpm_.emplace(std::move(*gpm));
  return {};
}

void GpuObserver::end(schema::Measurement& measurement) {
  using schema::FlagLevel;
  if (!problem_.empty())
    measurement.flags.push_back({FlagLevel::notice, "gpu_unobserved", messages::gpu_unobserved(problem_)});
  if (!open_) return;
  open_ = false;
  auto record = sampler_->end_trial();
  if (busy_) record.busy = busy_->busy();
  // What the whole device holds is more than the trial's, where others stand by.
  if (const auto peak = companions_ > 0 ? record.process_peak_bytes : record.peak_bytes()) {
    measurement.metrics["gpu_memory_gb"] = static_cast<double>(*peak) * 1e-9;
    if (!record.process_peak_bytes)
      measurement.flags.push_back({FlagLevel::info, "gpu_memory_of_device", record.process_memory_note});
  }
  if (record.energy_mj_per_item) measurement.metrics["gpu_energy_mj_per_item"] = *record.energy_mj_per_item;
  measurement.gpu = std::move(record);
}

std::optional<schema::GpuTelemetry> GpuObserver::take() {
  problem_.clear();
  if (!std::exchange(open_, false)) return std::nullopt;
  return sampler_->end_trial();
}

}  // namespace ridgeline::execute
