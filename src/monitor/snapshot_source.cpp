// SPDX-License-Identifier: Apache-2.0
#include "monitor/snapshot_source.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace ridgeline::monitor {

using base::ErrorCode;
using base::Result;

SnapshotSource::SnapshotSource(SourceOptions options, const base::Clock& clock)
    : options_(std::move(options)), clock_(&clock), started_(clock.now()) {}

Result<SnapshotSource> SnapshotSource::open(SourceOptions options, const base::Clock& clock) {
  SnapshotSource source(std::move(options), clock);
  source.find_gpus();
  RL_TRY(source.select(source.options_.devices));
  return source;
}

void SnapshotSource::open_nvml() {
  auto api = gpu::NvmlApi::load(options_.nvml);
  if (!api) {
    no_nvml_ = fmt::format("no NVIDIA GPU is visible: {}", api.error().message);
    return;
  }
  no_nvml_.clear();
  api_ = std::move(*api);
  driver_version_ = api_->driver_version();
}

void SnapshotSource::find_gpus() {
  const auto in_tree = list_pci_gpus(options_.sysfs);
  const auto asleep = std::count_if(in_tree.begin(), in_tree.end(), [](const PciGpu& gpu) { return gpu.asleep; });
  if (asleep == 0 || asleep < static_cast<std::ptrdiff_t>(in_tree.size())) open_nvml();
  if (asleep > 0) {  // by address: opening by number would wake those before it
    for (std::size_t i = 0; i < in_tree.size(); ++i) {
      Slot slot;
      slot.index = static_cast<int>(i);
      slot.address = in_tree[i].address;
      slot.last.index = slot.index;
      slot.last.pci_bus_id = slot.address;
      slots_.push_back(std::move(slot));
    }
    return;
  }
  if (!api_) return;
  const auto count = api_->device_count();
  if (!count || *count == 0) {
    no_nvml_ = fmt::format("no NVIDIA GPU is visible: {}",
                           count ? api_->path().string() + " lists none" : count.error().message);
    return;
  }
  for (unsigned index = 0; index < *count; ++index) {
    Slot slot;
    slot.index = static_cast<int>(index);
    slot.last.index = slot.index;
    slots_.push_back(std::move(slot));
  }
}

void SnapshotSource::open_probe(Slot& slot) {
  if (!api_) open_nvml();
  if (!api_) {
    slot.last.state = GpuState::lost;
    slot.last.note = no_nvml_;
    return;
  }
  const auto handle = slot.address.empty() ? api_->device_by_index(static_cast<unsigned>(slot.index))
                                           : api_->device_by_pci(slot.address);
  if (!handle) {
    slot.last.state = GpuState::lost;
    slot.last.note = handle.error().message;
    return;
  }
  slot.probe.emplace(api_, *handle, slot.index, options_.measure_pcie);
  slot.last = slot.probe->facts();
  if (slot.address.empty()) slot.address = kernel_address(slot.last.pci_bus_id);
}

/// Opening takes the driver time for each GPU: those that are not watched stay closed.
void SnapshotSource::open_awake() {
  for (auto& slot : slots_)
    if (!slot.probe && (slot.address.empty() || !is_asleep(options_.sysfs, slot.address))) open_probe(slot);
}

std::string SnapshotSource::listed() const {
  std::string text;
  for (const auto& slot : slots_) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", slot.index);
    if (!slot.last.name.empty()) text += fmt::format(" ({}, {})", slot.last.name, slot.last.uuid);
  }
  return text;
}

Result<void> SnapshotSource::select(const std::string& devices) {
  if (base::trim(devices) == "all") {
    open_awake();
    return {};
  }
  if (base::trim(devices).empty())
    return base::fail(ErrorCode::invalid_argument,
                      "--devices \"\": expected numbers or beginnings of UUIDs, joined by commas, or all");
  std::vector<int> wanted;
  for (const auto& part : base::split(devices, ',')) {
    const auto word = base::trim(part);
    const auto number = base::parse_integer(word, "--devices");
    if (!number) open_awake();  // its UUID is not known before
    const auto found = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& slot) {
      return number ? slot.index == *number : !word.empty() && slot.last.uuid.rfind(word, 0) == 0;
    });
    if (found == slots_.end()) {
      open_awake();
      return base::fail(ErrorCode::not_found, "--devices {}: no GPU \"{}\"; {}", devices, word,
                        slots_.empty() ? no_nvml_ : "there is " + listed())
          .hint("{}", slots_.empty() ? "leave --devices out to watch the host" : "");
    }
    wanted.push_back(found->index);
  }
  slots_.erase(std::remove_if(slots_.begin(), slots_.end(),
                              [&](const Slot& slot) {
                                return std::find(wanted.begin(), wanted.end(), slot.index) == wanted.end();
                              }),
               slots_.end());
  open_awake();
  return {};
}

Snapshot SnapshotSource::look() {
  Snapshot snapshot;
  const auto now = clock_->now();
  snapshot.time_utc = clock_->utc_now();
  snapshot.since_start_s = base::to_seconds(now - started_);
  snapshot.interval_s = before_ ? base::to_seconds(now - *before_) : 0;
  before_ = now;
  snapshot.host = host_.read();
  for (auto& slot : slots_) {
    if (!slot.address.empty() && is_asleep(options_.sysfs, slot.address)) {
      auto sleeping = slot.last;
      sleeping.state = GpuState::asleep;
      sleeping.note = "asleep; not asked, so that it stays asleep";
      snapshot.gpus.push_back(std::move(sleeping));
      continue;
    }
    if (!slot.probe) open_probe(slot);
    if (!slot.probe) {
      snapshot.gpus.push_back(slot.last);
      continue;
    }
    const auto at = clock_->now();
    snapshot.gpus.push_back(slot.probe->read(at));
    if (snapshot.gpus.back().state != GpuState::ok) continue;
    for (auto& process : slot.probe->processes(at)) {
      processes_.describe(process, now);
      snapshot.processes.push_back(std::move(process));
    }
  }
  processes_.end_look();
  snapshot.driver_version = driver_version_;
  if (!no_nvml_.empty()) snapshot.notes.push_back(no_nvml_);
  const auto hidden = std::count_if(snapshot.processes.begin(), snapshot.processes.end(),
                                    [](const ProcessReading& process) { return process.name.empty(); });
  if (hidden > 0)
    snapshot.notes.push_back(fmt::format("{} of {} processes are not visible from here (another container, or ended)",
                                         hidden, snapshot.processes.size()));
  return snapshot;
}

}  // namespace ridgeline::monitor
