// SPDX-License-Identifier: Apache-2.0
#include "range_counters.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "driver_calls.hpp"
#include "kernel_name.hpp"
#include "now.hpp"

namespace ridgeline::inject::RL_CUPTI {
namespace {

constexpr std::size_t kMostLaunches = 20'000;  // of a window of steps
// CUPTI takes long to make room for many ranges, so batches begin small and grow.
constexpr std::size_t kFirstRanges = 500;
constexpr std::size_t kMostRanges = 8'000;
constexpr auto kSwitchPatience = std::chrono::seconds(5);

/// Calls of this thread that CUPTI makes itself are none of the program's.
thread_local bool inside = false;
class Inside {
 public:
  Inside() { inside = true; }
  ~Inside() { inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

}  // namespace

// Problems, and what was counted.

void RangeCounters::problem(CounterState state, std::string why) {
  const std::lock_guard lock(mutex_);
  outcome_.state = state;
  outcome_.why = std::move(why);
  over_ = true;
}

void RangeCounters::problem(const CuptiFailure& failure) {
  const char* text = nullptr;
  (void)cupti_.functions().get_result_string(failure.result, &text);
  problem(state_of(failure.result),
          fmt::format("CUPTI cannot {}: {}", failure.doing, text != nullptr ? text : "unknown error"));
}

CounterOutcome RangeCounters::outcome() const {
  const std::lock_guard lock(mutex_);
  auto out = outcome_;
  if (out.launches > 0 && out.state != CounterState::too_many) out.state = CounterState::counted;
  return out;
}

bool RangeCounters::is_capturing() const {
  const std::lock_guard lock(mutex_);
  return captures_ > 0;
}

bool RangeCounters::is_open() const {
  const std::lock_guard lock(mutex_);
  return phase_ == Phase::counts || phase_ == Phase::waits;
}

bool RangeCounters::is_over() const {
  const std::lock_guard lock(mutex_);
  return over_;
}

std::vector<CountedLaunch> RangeCounters::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

// Switching.

bool RangeCounters::take_switch(Phase from) {
  const auto patience = std::chrono::steady_clock::now() + kSwitchPatience;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (phase_ == from) {
        phase_ = Phase::switches;
        return true;
      }
      if (phase_ != Phase::switches) return false;
    }
    if (std::chrono::steady_clock::now() > patience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void RangeCounters::settle(Phase to) {
  const std::lock_guard lock(mutex_);
  phase_ = to;
}

bool RangeCounters::prepare() {
  if (cupti_.range_profiler() == nullptr) cupti_.look_up_range_profiler();
  if (cupti_.range_profiler() == nullptr) {
    problem(CounterState::unsupported, "the libcupti that the process has cannot count; install CUPTI 12.6 or newer");
    return false;
  }
  if (subscribe()) return true;
  problem(CounterState::busy, "another profiler in the program takes CUPTI's callbacks");
  return false;
}

bool RangeCounters::subscribe() {
  if (!subscription_.add(*this)) return false;
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id)
    if (launch_kind(id) != LaunchKind::none) subscription_.enable(CUPTI_CB_DOMAIN_DRIVER_API, id, true);
  return true;
}

void RangeCounters::watch() { watches_ = subscribe(); }

bool RangeCounters::open(std::size_t launches) {
  watches_ = false;
  {
    const std::lock_guard lock(mutex_);
    if (captures_ > 0 || over_) return false;
    owner_ = std::this_thread::get_id();
    with_launches_ = closes_ = false;
    launches_ = 0;
  }
  auto* context = static_cast<CUcontext>(current_context());
  if (context == nullptr) {
    const std::lock_guard lock(mutex_);
    outcome_.state = CounterState::failed;
    outcome_.why = "the thread that makes the steps has no CUDA context";
    return false;
  }
  if (!take_switch(Phase::closed)) return false;
  const Inside it;
  room_ = std::max(kFirstRanges, std::min(kMostLaunches, launches));
  const bool done = prepare() && start(context);
  if (!done) {
    subscription_.remove(*this);
  } else {
    const std::lock_guard lock(mutex_);
    if (outcome_.launches == 0) outcome_ = {.left_out = outcome_.left_out};  // of an earlier attempt
  }
  settle(done ? Phase::counts : Phase::closed);
  return done;
}

void RangeCounters::open_with_launches() {
  {
    const std::lock_guard lock(mutex_);
    closes_ = false;
    with_launches_ = true;
    if (over_) return;
  }
  if (!take_switch(Phase::closed)) return;
  const Inside it;
  room_ = kFirstRanges;
  settle(prepare() ? Phase::waits : Phase::closed);
}

void RangeCounters::close() {
  if (take_switch(Phase::counts) || take_switch(Phase::waits)) {
    const Inside it;
    stop_all();
    settle(Phase::closed);
  }
  // Not where it was ended, which may have been within a callback.
  subscription_.remove(*this);
}

void RangeCounters::close_with_launches() {
  const std::lock_guard lock(mutex_);
  closes_ = true;
}

void RangeCounters::capture(bool begins) {
  if (begins) pause_for_capture();
  const std::lock_guard lock(mutex_);
  captures_ = std::max(0, captures_ + (begins ? 1 : -1));
}

void RangeCounters::pause_for_capture() {
  // CUPTI waits for each launch, which a stream that is being captured does not allow.
  if (!take_switch(Phase::counts)) return;
  const Inside it;
  stop_all();
  bool goes_on = false;
  {
    const std::lock_guard lock(mutex_);
    goes_on = with_launches_;
    if (!goes_on) {
      outcome_.state = CounterState::failed;
      outcome_.why = "a CUDA graph was captured in the counted step, which ended there";
    }
  }
  settle(goes_on ? Phase::waits : Phase::closed);
}

void RangeCounters::end(CounterState state, std::string why) {
  if (!take_switch(Phase::counts) && !take_switch(Phase::waits)) return;
  const Inside it;
  stop_all();
  problem(state, std::move(why));
  settle(Phase::closed);
}

void RangeCounters::watch_strays(CUcontext context) {
  const std::lock_guard lock(mutex_);
  switching_ = context;
  has_strays_ = false;
}

bool RangeCounters::start(CUcontext context) {
  watch_strays(context);
  if (!synchronize(context)) {
    problem(CounterState::failed, "the driver could not wait for the GPU");
    return false;
  }
  std::shared_ptr<Batch> batch;
  if (const auto failure = start_profiler(context, batch)) {
    problem(failure);
    return false;
  }
  const std::lock_guard lock(mutex_);
  batch->disturbed = has_strays_;
  batches_.push_back(std::move(batch));
  return true;
}

CuptiFailure RangeCounters::start_profiler(CUcontext context, std::shared_ptr<Batch>& batch) {
  const auto& f = *cupti_.range_profiler();
  if (!initialized_) {
    CUpti_Profiler_Initialize_Params p{CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    if (const auto result = f.initialize(&p); result != CUPTI_SUCCESS) return {result, "begin counting"};
    initialized_ = true;
  }
  std::uint32_t device = 0;
  if (const auto result = f.get_device_id(context, &device); result != CUPTI_SUCCESS)
    return {result, "identify the GPU"};
  auto& metrics = metrics_[device];
  if (!metrics) {
    CUpti_Device_GetChipName_Params chip{CUpti_Device_GetChipName_Params_STRUCT_SIZE};
    chip.deviceIndex = device;
    if (const auto result = f.get_chip_name(&chip); result != CUPTI_SUCCESS) return {result, "identify the GPU"};
    CUpti_Profiler_GetCounterAvailability_Params available{CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE};
    available.ctx = context;
    if (const auto result = f.get_availability(&available); result != CUPTI_SUCCESS)
      return {result, "read which counters are available"};
    std::vector<std::uint8_t> image(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = image.data();
    if (const auto result = f.get_availability(&available); result != CUPTI_SUCCESS)
      return {result, "read which counters are available"};
    auto chosen = std::make_unique<HostMetrics>(f);
    if (const auto failure = chosen->choose(chip.pChipName, image)) return failure;
    metrics = std::move(chosen);
  }
  batch = std::make_shared<Batch>(
      context, f, *metrics, has_graphs_ ? ContextProfiler::Ranges::as_called : ContextProfiler::Ranges::each_kernel);
  batch->device = device;
  const auto failure = batch->profiler.start(context, room_);
  room_ = std::max(room_, std::min(kMostRanges, 2 * room_));
  return failure;
}

void RangeCounters::stop_all() {
  std::vector<std::shared_ptr<Batch>> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(batches_);
  }
  for (auto& batch : all) stop(std::move(batch));
}

void RangeCounters::stop(std::shared_ptr<Batch> batch) {
  watch_strays(batch->context);
  if (!synchronize(batch->context)) {
    const std::lock_guard lock(mutex_);
    outcome_.left_out += batch->launches.size();
    outcome_.state = CounterState::failed;
    outcome_.why = "the GPU could not be waited for, as the process ends or after an error of its own";
    new std::shared_ptr<Batch>(std::move(batch));  // never freed: what CUPTI made of it may be gone
    return;
  }
  if (const auto failure = batch->profiler.stop()) {
    problem(failure);
    const std::lock_guard lock(mutex_);
    outcome_.left_out += batch->launches.size();
    return;
  }
  match(*batch);
}

void RangeCounters::match(Batch& batch) {
  const std::lock_guard lock(mutex_);
  auto& launches = batch.launches;
  const auto all = launches.size();
  batch.disturbed = batch.disturbed || has_strays_ || !batch.in_flight.empty();
  if (!batch.profiler.as_called())  // a call has its range even if it failed
    launches.erase(std::remove_if(launches.begin(), launches.end(), [](const Launch& launch) { return launch.failed; }),
                   launches.end());
  const auto values = batch.profiler.values();
  if (batch.disturbed || values.size() != launches.size() || batch.profiler.dropped() > 0) {
    outcome_.left_out += all;
    outcome_.state = CounterState::failed;
    outcome_.why = batch.disturbed ? std::string("another thread launched kernels as counting began or ended")
                                   : fmt::format("CUPTI counted {} ranges and dropped {}, of {} launches",
                                                 values.size(), batch.profiler.dropped(), launches.size());
    return;
  }
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (!launches[i].kept || launches[i].failed) continue;
    if (launches[i].uncertain) {
      ++outcome_.left_out;
      continue;
    }
    launches[i].it.values = values[i];
    ++outcome_.launches;
    outcome_.graphs = outcome_.graphs || launches[i].it.kernel.empty();
    done_.push_back(std::move(launches[i].it));
  }
}

// Launches.

RangeCounters::Batch* RangeCounters::batch_of(CUcontext context) {
  const auto found =
      std::find_if(batches_.begin(), batches_.end(), [&](const auto& batch) { return batch->context == context; });
  return found != batches_.end() ? found->get() : nullptr;
}

std::shared_ptr<RangeCounters::Batch> RangeCounters::take_batch(CUcontext context) {
  const auto found =
      std::find_if(batches_.begin(), batches_.end(), [&](const auto& batch) { return batch->context == context; });
  auto out = std::move(*found);
  batches_.erase(found);
  return out;
}

std::shared_ptr<RangeCounters::Batch> RangeCounters::shared_batch(CUcontext context, std::uint64_t serial) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(batches_.begin(), batches_.end(), [&](const auto& batch) { return batch->context == context; });
  if (found == batches_.end() || serial < (*found)->first_serial) return nullptr;
  return serial - (*found)->first_serial < (*found)->launches.size() ? *found : nullptr;
}

bool RangeCounters::has_batches() const {
  const std::lock_guard lock(mutex_);
  return !batches_.empty();
}

void RangeCounters::called(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || inside) return;
  const auto kind = launch_kind(id);
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  const bool enters = call.callbackSite == CUPTI_API_ENTER;
  switch (kind) {
    case LaunchKind::none: break;
    case LaunchKind::kernel:
    case LaunchKind::graph:
    case LaunchKind::several_devices:
      if (enters)
        enter(id, kind, call);
      else
        leave(call);
      break;
    case LaunchKind::capture_begins:
      if (enters) {
        pause_for_capture();
      } else if (call.functionReturnValue != nullptr &&
                 *static_cast<const CUresult*>(call.functionReturnValue) == CUDA_SUCCESS) {
        const std::lock_guard lock(mutex_);
        ++captures_;
      }
      break;
    case LaunchKind::capture_ends:
      if (!enters) {
        const std::lock_guard lock(mutex_);
        captures_ = std::max(0, captures_ - 1);
      }
      break;
  }
}

void RangeCounters::enter(CUpti_CallbackId id, LaunchKind kind, const CUpti_CallbackData& data) {
  if (data.correlationData != nullptr) *data.correlationData = 0;
  if (watches_) ++watched_launches_;
  if (kind == LaunchKind::graph) has_graphs_ = true;
  if (kind == LaunchKind::several_devices)
    return end(CounterState::collectives, "counting ended before a cooperative launch on several GPUs");
  if (data.symbolName != nullptr && is_collective(data.symbolName))
    return end(CounterState::collectives, fmt::format("counting ended before {}, which may wait for another GPU",
                                                      plain_kernel_name(data.symbolName)));
  if (!ready_for(data.context, kind)) return;
  const auto serial = push(launch_call(id, data.functionParams), data);
  if (data.correlationData != nullptr) *data.correlationData = serial;
  if (serial != 0) begin_range(data.context, serial);
}

void RangeCounters::begin_range(CUcontext context, std::uint64_t serial) {
  const auto batch = shared_batch(context, serial);
  if (!batch || !batch->profiler.as_called()) return;
  const Inside it;
  if (batch->profiler.begin_range(static_cast<std::size_t>(serial - batch->first_serial))) return;
  const std::lock_guard lock(mutex_);
  batch->disturbed = true;
}

void RangeCounters::end_range(CUcontext context, std::uint64_t serial) {
  const auto batch = shared_batch(context, serial);
  if (!batch || !batch->profiler.as_called()) return;
  const Inside it;
  // What was launched belongs to the range only if it ended in it.
  if (synchronize(context) && batch->profiler.end_range()) return;
  const std::lock_guard lock(mutex_);
  batch->disturbed = true;
}

bool RangeCounters::ready_for(CUcontext context, LaunchKind kind) {
  bool starts = false;
  std::shared_ptr<Batch> full;
  {
    const std::lock_guard lock(mutex_);
    auto* batch = batch_of(context);
    if (phase_ == Phase::switches && context == switching_) has_strays_ = true;
    if (phase_ == Phase::closed || phase_ == Phase::switches) return false;
    if (!closes_) {
      if (captures_ > 0) return false;
      const bool has_room = with_launches_ || launches_ < kMostLaunches;
      const bool takes_it = batch != nullptr && (kind != LaunchKind::graph || batch->profiler.as_called());
      if (takes_it && has_room && batch->launches.size() < batch->profiler.most_ranges()) return true;
      if (batch == nullptr && !with_launches_ && owner_ != std::this_thread::get_id()) {
        ++outcome_.left_out;
        return false;
      }
      starts = batch == nullptr || has_room;
      if (batch != nullptr) full = take_batch(context);
    }
    phase_ = Phase::switches;
  }
  const Inside it;
  const bool had_one = full != nullptr;
  if (full) stop(std::move(full));
  if (starts) {
    const bool started = start(context);
    settle(started || has_batches() ? Phase::counts : Phase::closed);
    return started;
  }
  stop_all();
  if (had_one) problem(CounterState::too_many, fmt::format("only the first {} launches were counted", kMostLaunches));
  settle(Phase::closed);
  return false;
}

std::uint64_t RangeCounters::push(const LaunchCall& call, const CUpti_CallbackData& data) {
  Launch launch;
  auto& it = launch.it;
  if (call.kind == LaunchKind::kernel) it.kernel = data.symbolName != nullptr ? data.symbolName : "unknown kernel";
  it.grid = call.grid;
  it.block = call.block;
  it.context = data.contextUid;
  (void)cupti_.range_profiler()->get_stream_id(data.context, call.stream, call.per_thread ? 1 : 0, &it.stream);
  it.start_ns = now_ns();
  it.path = places_.launch_path();
  it.step = step_;
  launch.kept = keeps_;
  const std::lock_guard lock(mutex_);
  auto* batch = batch_of(data.context);
  if (phase_ == Phase::switches && data.context == switching_) has_strays_ = true;
  if (batch == nullptr || phase_ == Phase::closed) return 0;
  it.device = batch->device;
  auto& launches = batch->launches;
  if (batch->profiler.as_called() && !batch->in_flight.empty()) {  // ranges of two threads would lie in each other
    for (const auto other : batch->in_flight) launches[other].uncertain = true;
    ++outcome_.left_out;
    return 0;
  }
  if (launches.empty()) batch->first_serial = last_serial_ + 1;
  const auto serial = batch->first_serial + launches.size();
  last_serial_ = std::max(last_serial_, serial);
  for (const auto other : batch->in_flight) launches[other].uncertain = launch.uncertain = true;
  batch->in_flight.push_back(launches.size());
  launches.push_back(std::move(launch));
  ++launches_;
  return serial;
}

void RangeCounters::leave(const CUpti_CallbackData& data) {
  if (data.correlationData == nullptr || *data.correlationData == 0) return;
  end_range(data.context, *data.correlationData);
  const auto batch = shared_batch(data.context, *data.correlationData);
  if (!batch) return;
  const std::lock_guard lock(mutex_);
  const auto i = static_cast<std::size_t>(*data.correlationData - batch->first_serial);
  std::erase(batch->in_flight, i);
  if (data.functionReturnValue != nullptr && *static_cast<const CUresult*>(data.functionReturnValue) != CUDA_SUCCESS)
    batch->launches[i].failed = true;
}

}  // namespace ridgeline::inject::RL_CUPTI
