// SPDX-License-Identifier: Apache-2.0
#include "activities.hpp"

#include <array>
#include <atomic>

#include "call_names.hpp"
#include "launch_calls.hpp"
#include "launch_lines.hpp"
#include "now.hpp"
#include "range_counters.hpp"

namespace ridgeline::inject::RL_CUPTI {
namespace {

constexpr std::uint32_t kFlushMs = 500;  // a kill loses what is younger

// CUPTI gives its callbacks no argument.
std::atomic<ActivityBuffers*> buffers_of_process = nullptr;
std::atomic<std::uint64_t> dropped_records = 0;
std::atomic<const CuptiFunctions*> functions_of_process = nullptr;

void CUPTIAPI asked(std::uint8_t** bytes, std::size_t* size, std::size_t* most_records) {
  *bytes = buffers_of_process.load()->ask();
  *size = ActivityBuffers::kBytes;
  *most_records = 0;
}

void CUPTIAPI completed(CUcontext context, std::uint32_t stream, std::uint8_t* bytes, std::size_t, std::size_t valid) {
  std::size_t lost = 0;
  if (functions_of_process.load()->get_dropped(context, stream, &lost) == CUPTI_SUCCESS) dropped_records += lost;
  buffers_of_process.load()->give_full({bytes, valid});
}

/// Asked for by the calling thread as a call begins and as it ends.
std::uint64_t CUPTIAPI timestamp() {
  const auto now = now_ns();
  LaunchLines::of_process().time_given(now);
  return static_cast<std::uint64_t>(now);
}

constexpr std::array kKinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                            CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
                            CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};
constexpr std::array kCallKinds{CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER};

}  // namespace

bool Activities::check(CUptiResult result, const char* doing) {
  if (result == CUPTI_SUCCESS) return true;
  const char* text = nullptr;
  cupti_.functions().get_result_string(result, &text);
  why_ = std::string("CUPTI cannot ") + doing + ": " + (text != nullptr ? text : "unknown error");
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) why_ += "; another profiler records this process";
  return false;
}

bool Activities::start(ActivityBuffers& buffers, bool devices) {
  if (!cupti_.open()) {
    why_ = cupti_.why();
    return false;
  }
  const auto& f = cupti_.functions();
  buffers_of_process = &buffers;
  dropped_before_ = dropped_records;
  functions_of_process = &f;
  // The same clock for all processes, for ranges and for calls; before anything is recorded.
  if (f.register_timestamp != nullptr && !check(f.register_timestamp(timestamp), "take another clock")) return false;
  if (f.set_thread_id_type != nullptr) (void)f.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (!check(f.register_callbacks(asked, completed), "deliver records")) return false;
  if (f.flush_period != nullptr) (void)f.flush_period(kFlushMs);
  if (devices) (void)f.enable(CUPTI_ACTIVITY_KIND_DEVICE);
  started_ = true;
  return true;
}

/// All calls are switched on, and those that do not matter off again: once CUDA has started, CUPTI 13.0 takes a call
/// that is switched on alone without recording it.
void Activities::record_calls() {
  const auto& f = cupti_.functions();
  for (const auto kind : kCallKinds) (void)f.enable(kind);
  const auto leave_out = [&](CUpti_CallbackDomain domain, CUpti_CallbackId end, auto enable) {
    if (enable == nullptr) return;
    for (CUpti_CallbackId id = 1; id < end; ++id) {
      const char* name = nullptr;
      if (f.get_callback_name(domain, id, &name) == CUPTI_SUCCESS && name != nullptr && !matters(name))
        (void)enable(id, 0);
    }
  };
  leave_out(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE, f.enable_runtime_api);
  leave_out(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE, f.enable_driver_api);
}

void Activities::switch_on() {
  if (!started_ || on_) return;
  on_ = true;
  bool kernels = false;
  for (const auto kind : kKinds)
    if (const auto result = cupti_.functions().enable(kind); kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      kernels = check(result, "record kernels");
  if (kernels) record_calls();
}

void Activities::switch_off() {
  if (!started_ || !on_) return;
  on_ = false;
  for (const auto kind : kCallKinds) (void)cupti_.functions().disable(kind);
  for (const auto kind : kKinds) (void)cupti_.functions().disable(kind);
}

/// NVIDIA's own tools begin behind the start, and end before the stop.
void Activities::profiler_called(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart && call.callbackSite == CUPTI_API_EXIT)
    listener_.profiler_called(true);
  if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop && call.callbackSite == CUPTI_API_ENTER)
    listener_.profiler_called(false);
}

void Activities::capture_called(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const auto kind = launch_kind(id);
  const bool exits = call.callbackSite == CUPTI_API_EXIT;
  const bool failed = exits && call.functionReturnValue != nullptr &&
                      *static_cast<const CUresult*>(call.functionReturnValue) != CUDA_SUCCESS;
  if (kind == LaunchKind::capture_begins && !exits) listener_.stream_captured(true);
  if ((kind == LaunchKind::capture_begins && failed) || (kind == LaunchKind::capture_ends && exits))
    listener_.stream_captured(false);
}

void Activities::called(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    profiler_called(id, *static_cast<const CUpti_CallbackData*>(data));
    capture_called(id, *static_cast<const CUpti_CallbackData*>(data));
  }
  if (domain != CUPTI_CB_DOMAIN_RESOURCE) return;
  const auto* graph =
      static_cast<const CUpti_GraphData*>(static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor);
  const auto get_id = cupti_.functions().get_graph_node_id;
  std::uint64_t node = 0;
  if (graph == nullptr || get_id(graph->node, &node) != CUPTI_SUCCESS) return;
  std::uint64_t original = 0;
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED)
    listener_.node_created(node);
  else if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED && get_id(graph->originalNode, &original) == CUPTI_SUCCESS)
    listener_.node_cloned(original, node);
}

void Activities::watch_captures(bool on) {
  if (!started_ || cupti_.functions().get_graph_node_id == nullptr || on == subscription_.has(*this)) return;
  if (on && !subscription_.add(*this)) return;
  for (const auto id : {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED})
    subscription_.enable(CUPTI_CB_DOMAIN_RESOURCE, id, on);
  for (const auto id : {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop})
    subscription_.enable(CUPTI_CB_DOMAIN_DRIVER_API, id, on);
  // Never switched off, as who counts wants them, too.
  for (CUpti_CallbackId id = 1; on && id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id)
    if (const auto kind = launch_kind(id); kind == LaunchKind::capture_begins || kind == LaunchKind::capture_ends)
      subscription_.enable(CUPTI_CB_DOMAIN_DRIVER_API, id, true);
  if (!on) subscription_.remove(*this);
}

std::unique_ptr<LaunchCounters> Activities::make_counters(LaunchPlaces& places) {
  return std::make_unique<RangeCounters>(cupti_, subscription_, places);
}

void Activities::flush() {
  if (started_) (void)cupti_.functions().flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

void Activities::stop() {
  if (!started_) return;
  switch_off();
  watch_captures(false);
  const auto& f = cupti_.functions();
  (void)f.disable(CUPTI_ACTIVITY_KIND_DEVICE);
  (void)f.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  if (f.flush_period != nullptr) (void)f.flush_period(0);
}

std::uint64_t Activities::dropped() const { return dropped_records - dropped_before_; }

std::unique_ptr<GpuRecords> make_records(trace::EventLog& log, std::int64_t process, CaptureListener& listener) {
  return std::make_unique<Activities>(log, process, listener);
}

}  // namespace ridgeline::inject::RL_CUPTI
