// SPDX-License-Identifier: Apache-2.0
#include "activity_reader.hpp"

#include "call_names.hpp"
#include "kernel_name.hpp"
#include "launch_lines.hpp"

namespace ridgeline::inject::RL_CUPTI {
namespace {

constexpr std::int64_t kBytesPerKilobyte = 1'000;

/// As the PyTorch profiler has them.
std::string_view copy_name(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "Memcpy HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "Memcpy DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "Memcpy DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH: return "Memcpy HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP: return "Memcpy PtoP";
    default: return "Memcpy";
  }
}

std::string_view memory_name(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE: return "Pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED: return "Pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE: return "Device";
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY: return "Array";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED: return "Managed";
    default: return "Unknown";
  }
}

std::string_view sync_name(CUpti_ActivitySynchronizationType type) {
  switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE: return "Event Sync";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT: return "Stream Wait Event";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE: return "Stream Sync";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE: return "Context Sync";
    default: return "Sync";
  }
}

/// "GPU-6f7b3a1c-...", as nvidia-smi has it; "" where CUPTI does not know it.
std::string uuid_text(std::string_view kind, const CUuuid& uuid) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(kind);
  bool is_known = false;
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
    is_known = is_known || byte != 0;
  }
  return is_known ? out : std::string();
}

std::int64_t duration(std::uint64_t start, std::uint64_t end) {
  return end > start ? static_cast<std::int64_t>(end - start) : 0;
}

}  // namespace

void ActivityReader::read(std::uint8_t* bytes, std::size_t valid, std::int64_t until_ns) {
  until_ns_ = static_cast<std::uint64_t>(until_ns);
  CUpti_Activity* record = nullptr;
  while (cupti_.functions().get_next_record(bytes, valid, &record) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      case CUPTI_ACTIVITY_KIND_KERNEL: add(*reinterpret_cast<KernelRecord*>(record)); break;
      case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const auto& copy = *reinterpret_cast<CUpti_ActivityMemcpy6*>(record);
        std::string name(copy_name(copy.copyKind));
        name.append(" (")
            .append(memory_name(copy.srcKind))
            .append(" -> ")
            .append(memory_name(copy.dstKind))
            .append(")");
        add_memory(log_.events.copies, copy, name);
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        add_memory(log_.events.copies, *reinterpret_cast<CUpti_ActivityMemcpyPtoP4*>(record), "Memcpy PtoP");
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET: {
        const auto& set = *reinterpret_cast<CUpti_ActivityMemset4*>(record);
        std::string name("Memset (");
        add_memory(log_.events.sets, set,
                   name.append(memory_name(static_cast<std::uint8_t>(set.memoryKind))).append(")"));
        break;
      }
      case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: add(*reinterpret_cast<CUpti_ActivitySynchronization2*>(record)); break;
      case CUPTI_ACTIVITY_KIND_RUNTIME:
        add(*reinterpret_cast<CUpti_ActivityAPI*>(record), CUPTI_CB_DOMAIN_RUNTIME_API);
        break;
      case CUPTI_ACTIVITY_KIND_DRIVER:
        add(*reinterpret_cast<CUpti_ActivityAPI*>(record), CUPTI_CB_DOMAIN_DRIVER_API);
        break;
      case CUPTI_ACTIVITY_KIND_DEVICE: add(*reinterpret_cast<CUpti_ActivityDevice5*>(record)); break;
      default: break;
    }
  }
}

bool ActivityReader::has_time(std::uint64_t start, std::uint64_t end) {
  if (start >= until_ns_) return false;
  if (start != 0 && end >= start) return true;
  ++zero_time_;
  return false;
}

void ActivityReader::add(const KernelRecord& kernel) {
  devices_[kernel.contextId] = static_cast<std::int32_t>(kernel.deviceId);
  if (!has_time(kernel.start, kernel.end)) return;
  ++kernels_;
  overlap_.add(kernel.deviceId, kernel.streamId, kernel.start, kernel.end);
  if (overlap_.found()) overlaps_.store(true, std::memory_order_relaxed);
  if (kernel.graphNodeId != 0) graphs_.store(true, std::memory_order_relaxed);
  auto& table = log_.events.kernels;
  table.add(static_cast<std::int64_t>(kernel.start), duration(kernel.start, kernel.end), kernel_name(kernel.name),
            log_.gpu_lane({process_, static_cast<std::int32_t>(kernel.deviceId), kernel.contextId, kernel.streamId}),
            kernel.correlationId);
  table.grid.push_back({kernel.gridX, kernel.gridY, kernel.gridZ});
  table.block.push_back({kernel.blockX, kernel.blockY, kernel.blockZ});
  table.registers.push_back(kernel.registersPerThread);
  table.shared_bytes.push_back(kernel.staticSharedMemory + kernel.dynamicSharedMemory);
  table.graph_node.push_back(kernel.graphNodeId);
}

template <typename Memory>
void ActivityReader::add_memory(trace::MemoryWork& table, const Memory& work, std::string_view name) {
  devices_[work.contextId] = static_cast<std::int32_t>(work.deviceId);
  if (!has_time(work.start, work.end)) return;
  ++copies_;
  table.add(static_cast<std::int64_t>(work.start), duration(work.start, work.end), log_.name(name),
            log_.gpu_lane({process_, static_cast<std::int32_t>(work.deviceId), work.contextId, work.streamId}),
            work.correlationId);
  table.bytes.push_back(static_cast<std::int64_t>(work.bytes));
}

void ActivityReader::add(const CUpti_ActivitySynchronization2& sync) {
  if (!has_time(sync.start, sync.end)) return;
  // The record names no device; all of a context is on one.
  const auto device = devices_.find(sync.contextId);
  const bool of_all = sync.streamId == static_cast<std::uint32_t>(CUPTI_SYNCHRONIZATION_INVALID_VALUE);
  log_.events.syncs.add(static_cast<std::int64_t>(sync.start), duration(sync.start, sync.end),
                        log_.name(sync_name(sync.type)),
                        log_.gpu_lane({process_, device == devices_.end() ? 0 : device->second, sync.contextId,
                                       of_all ? 0 : sync.streamId}),
                        sync.correlationId);
}

void ActivityReader::add(const CUpti_ActivityAPI& call, CUpti_CallbackDomain domain) {
  if (!has_time(call.start, call.end)) return;
  const auto start = static_cast<std::int64_t>(call.start);
  const auto lane = log_.thread_lane({process_, call.threadId});
  log_.events.calls.add(start, duration(call.start, call.end), call_name(domain, call.cbid), lane, call.correlationId);
  const auto* line = LaunchLines::of_process().take(call.threadId, start);
  if (line == nullptr) return;
  auto& ranges = log_.events.ranges;
  ranges.add(start, duration(call.start, call.end), log_.name(*line), lane, 0);
  ranges.kind.push_back(trace::RangeKind::python);
  ranges.sequence.push_back(-1);
  ranges.forward_thread.push_back(0);
}

void ActivityReader::add(const CUpti_ActivityDevice5& device) {
  if (!seen_devices_.insert(device.id).second) return;
  auto uuid = device.isMigEnabled != 0 ? uuid_text("MIG", device.migUuid) : std::string();
  if (uuid.empty()) uuid = uuid_text("GPU", device.uuid);
  if (!uuid.empty()) uuids_[static_cast<std::int32_t>(device.id)] = std::move(uuid);
  log_.add({static_cast<std::int32_t>(device.id), device.name != nullptr ? device.name : "",
            static_cast<std::int32_t>(device.numMultiprocessors),
            std::to_string(device.computeCapabilityMajor) + "." + std::to_string(device.computeCapabilityMinor),
            static_cast<std::int64_t>(device.globalMemoryBandwidth) * kBytesPerKilobyte});
}

trace::NameId ActivityReader::kernel_name(const char* mangled) {
  if (mangled == nullptr) return 0;
  const auto [found, is_new] = kernel_names_.try_emplace(mangled, 0);
  if (is_new) {
    found->second = log_.name(plain_kernel_name(mangled));
    if (is_collective(mangled)) collectives_ = true;
  }
  return found->second;
}

trace::NameId ActivityReader::call_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const auto [found, is_new] =
      call_names_.try_emplace(std::uint64_t{static_cast<std::uint32_t>(domain)} << 32U | id, 0);
  if (is_new) {
    const char* name = nullptr;
    const bool known = cupti_.functions().get_callback_name(domain, id, &name) == CUPTI_SUCCESS && name != nullptr;
    found->second = log_.name(known ? without_version(name) : std::string_view("unknown call"));
  }
  return found->second;
}

}  // namespace ridgeline::inject::RL_CUPTI
