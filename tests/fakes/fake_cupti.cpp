// SPDX-License-Identifier: Apache-2.0
// libcupti.so.12 or .13, by the headers that it is compiled with, of a GPU that does not exist: programs of tests say
// what it did (fake_cupti.h).
#include "fake_cupti.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>
#include <cupti.h>

#include "fake_range_profiler.hpp"

namespace {

#if CUDART_VERSION >= 13000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif

constexpr CUpti_CallbackId kLaunch = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
constexpr CUpti_CallbackId kGetDevice = CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020;

std::mutex mutex;
CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
CUpti_TimestampCallbackFunc clock_of_program = nullptr;
std::set<CUpti_ActivityKind> enabled;
std::set<CUpti_CallbackId> left_out;  // of the runtime's calls
std::optional<KernelRecord> in_flight;
std::uint8_t* buffer = nullptr;
std::size_t size = 0;
std::size_t used = 0;
std::uint64_t kernel_ns = 1'000;
std::set<std::string>& names() {
  static auto* all = new std::set<std::string>;
  return *all;
}

void deliver() {
  if (buffer == nullptr) return;
  auto* full = std::exchange(buffer, nullptr);
  complete(nullptr, 0, full, size, used);
}

template <typename Record>
void add(const Record& record) {
  if (buffer != nullptr && size - used < sizeof record) deliver();
  if (buffer == nullptr) {
    std::size_t most = 0;
    request(&buffer, &size, &most);
    used = 0;
  }
  std::memcpy(buffer + used, &record, sizeof record);
  used += sizeof record;
}

std::size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(KernelRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_DEVICE: return sizeof(CUpti_ActivityDevice5);
    default: return sizeof(CUpti_ActivityAPI);
  }
}

void called(CUpti_CallbackId id, std::uint32_t correlation, std::uint64_t now) {
  if (enabled.count(CUPTI_ACTIVITY_KIND_RUNTIME) == 0 || left_out.count(id) != 0) return;
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  call.cbid = id;
  call.start = now;
  call.end = now + 500;
  call.processId = static_cast<uint32_t>(::getpid());
  call.threadId = static_cast<uint32_t>(::syscall(SYS_gettid));
  call.correlationId = correlation;
  add(call);
}

void finish_work() {
  if (const auto kernel = std::exchange(in_flight, std::nullopt)) add(*kernel);
}

void ran(const char* mangled, std::uint32_t stream, std::uint32_t correlation, std::uint64_t node) {
  fake_ranges::launched(node != 0 ? nullptr : mangled, stream);
  const std::lock_guard lock(mutex);
  if (request == nullptr) return;
  const auto now = clock_of_program();
  finish_work();
  called(kGetDevice, 0, now);
  called(kLaunch, correlation, now);
  if (enabled.count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 0) return;
  KernelRecord kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = correlation == FAKE_CUPTI_WITHOUT_TIME ? 0 : now + 2'000;
  kernel.end = correlation == FAKE_CUPTI_WITHOUT_TIME ? 0 : now + 2'000 + kernel_ns;
  kernel.contextId = 1;
  kernel.streamId = stream;
  kernel.correlationId = correlation;
  kernel.gridX = 8;
  kernel.gridY = kernel.gridZ = kernel.blockY = kernel.blockZ = 1;
  kernel.blockX = 128;
  kernel.graphNodeId = node;
  kernel.name = names().insert(mangled).first->c_str();
  in_flight = kernel;
}

std::atomic<CUpti_CallbackFunc> subscriber = nullptr;
void* data_of_subscriber = nullptr;
std::array<std::atomic<bool>, CUPTI_DRIVER_TRACE_CBID_SIZE> driver_calls{};

/// A call to launch a kernel of 8 blocks.
struct Launch {
  Launch(const char* mangled, std::uint32_t stream) {
    kernel.gridDimX = 8;
    kernel.gridDimY = kernel.gridDimZ = kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.blockDimX = 128;
    graph.hStream = kernel.hStream = reinterpret_cast<CUstream>(std::uintptr_t{stream});
    if (mangled != nullptr)
      call = std::make_unique<fake_ranges::Call>(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, mangled, &kernel);
    else
      call = std::make_unique<fake_ranges::Call>(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, nullptr, &graph);
    call->enter();
  }
  cuLaunchKernel_params kernel{};
  cuGraphLaunch_params graph{};
  std::unique_ptr<fake_ranges::Call> call;
};

void launched(const char* mangled, std::uint32_t stream, std::uint32_t correlation, std::uint64_t node) {
  Launch launch(node != 0 ? nullptr : mangled, stream);
  ran(mangled, stream, correlation, node);
  launch.call->leave(CUDA_SUCCESS);
}

thread_local std::unique_ptr<Launch> begun;

}  // namespace

void fake_ranges::finish() {
  const std::lock_guard lock(mutex);
  finish_work();
}

bool fake_ranges::records() { return fake_cupti_records() != 0; }

void fake_ranges::call_back(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const auto function = subscriber.load();
  if (function != nullptr && driver_calls[id]) function(data_of_subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

extern "C" {

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult, const char** text) {
  *text = "fake error";
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc asked,
                                                    CUpti_BuffersCallbackCompleteFunc done) {
  if (getenv("FAKE_CUPTI_BUSY") != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  request = asked;
  complete = done;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  clock_of_program = clock;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex);
  enabled.insert(kind);
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) left_out.clear();
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE) {
    CUpti_ActivityDevice5 device{};
    device.kind = kind;
    device.name = "Fake GPU";
    device.numMultiprocessors = 132;
    device.computeCapabilityMajor = 9;
    if (const char* uuid = getenv("FAKE_CUPTI_UUID"); uuid != nullptr)
      std::memcpy(device.uuid.bytes, uuid, std::min(std::strlen(uuid), sizeof device.uuid.bytes));
    device.globalMemoryBandwidth = 4'800'000'000;
    add(device);
  }
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex);
  enabled.erase(kind);
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) in_flight.reset();
  return CUPTI_SUCCESS;
}
/// As the real one does once CUDA has started: a call that is switched on alone is not recorded.
CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t on) {
  const std::lock_guard lock(mutex);
  if (on == 0) left_out.insert(id);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId, uint8_t) { return CUPTI_SUCCESS; }
CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t) {
  const std::lock_guard lock(mutex);
  finish_work();
  deliver();
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* bytes, size_t valid, CUpti_Activity** record) {
  auto* next = *record == nullptr ? bytes : reinterpret_cast<uint8_t*>(*record) + size_of((*record)->kind);
  if (next >= bytes + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = getenv("FAKE_CUPTI_DROPS") != nullptr ? 5 : 0;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
  *name = domain != CUPTI_CB_DOMAIN_RUNTIME_API ? "cuUnknown"
          : id == kLaunch                       ? "cudaLaunchKernel_v7000"
                                                : "cudaGetDevice_v3020";
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc function, void* data) {
  if (subscriber != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  subscriber = function;
  data_of_subscriber = data;
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(&subscriber);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle) {
  for (auto& wanted : driver_calls) wanted = false;
  subscriber = nullptr;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                         CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) driver_calls[id] = on != 0;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  *id = reinterpret_cast<std::uintptr_t>(node);
  return CUPTI_SUCCESS;
}

uint64_t fake_cupti_capture() {
  static std::uintptr_t last = 100;
  const auto function = subscriber.load();
  if (function == nullptr) return 0;
  CUpti_GraphData graph{};
  CUpti_ResourceData data{};
  data.resourceDescriptor = &graph;
  graph.node = reinterpret_cast<CUgraphNode>(++last);
  function(data_of_subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &data);
  graph.originalNode = graph.node;
  graph.node = reinterpret_cast<CUgraphNode>(++last);
  function(data_of_subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, &data);
  return last;
}
void fake_cupti_profiler(int starts) {
  if (subscriber == nullptr) return;
  for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
    CUpti_CallbackData data{};
    data.callbackSite = site;
    subscriber(data_of_subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
               starts != 0 ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, &data);
  }
}
void fake_cupti_replay(const char* mangled, uint64_t node, uint32_t correlation) {
  launched(mangled, 7, correlation, node);
}
void fake_cupti_launch(const char* mangled, uint32_t stream, uint32_t correlation) {
  launched(mangled, stream, correlation, 0);
}
void fake_cupti_launch_failing(const char* mangled) {
  Launch launch(mangled, 7);
  launch.call->leave(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
}
void fake_cupti_launch_begin(const char* mangled, uint32_t stream) {
  begun = std::make_unique<Launch>(mangled, stream);
  ran(mangled, stream, 1, 0);
}
void fake_cupti_launch_end() {
  begun->call->leave(CUDA_SUCCESS);
  begun.reset();
}
void fake_cupti_launch_unseen() { ran("hidden", 7, 0, 0); }
void fake_cupti_kernels_last(uint64_t ns) {
  const std::lock_guard lock(mutex);
  kernel_ns = ns;
}
int fake_cupti_enabled() {
  const std::lock_guard lock(mutex);
  return static_cast<int>(enabled.size()) + (subscriber != nullptr ? 1 : 0);
}
int fake_cupti_records() {
  const std::lock_guard lock(mutex);
  return enabled.count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 0 ? 0 : 1;
}
}
