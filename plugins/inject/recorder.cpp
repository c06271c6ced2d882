// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"
#include "driver_calls.hpp"
#include "driver_devices.hpp"
#include "launch_lines.hpp"
#include "loaded_cuda.hpp"
#include "now.hpp"

namespace ridgeline::inject {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(50);
constexpr std::int64_t kStepLane = 0;  // no thread has these numbers
constexpr std::int64_t kPauseLane = -1;
constexpr std::int64_t kWriteEveryNs = 1'000'000'000;
constexpr std::int64_t kEarlyNs = 2'000'000'000;  // of a process that may be over soon
constexpr std::int64_t kWriteEarlyEveryNs = 100'000'000;

thread_local std::shared_ptr<ThreadRanges> own_ranges;
thread_local const Recorder* owner_of_ranges = nullptr;

/// Its arguments, joined by spaces.
std::string command_line() {
  auto text = base::read_file("/proc/self/cmdline").value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (auto& letter : text)
    if (letter == '\0' || letter == '\n') letter = ' ';
  return text;
}

}  // namespace

void Recorder::forget_thread() {
  own_ranges.reset();
  owner_of_ranges = nullptr;
}

Recorder::Recorder(trace::EventLog log, std::string stem, const Options& options, bool woken)
    : stem_(std::move(stem)),
      options_(options),
      process_(::getpid()),
      begun_ns_(now_ns()),
      woken_(woken),
      names_(RangeNames::of_process()),
      window_(options, begun_ns_),
      log_(std::move(log)),
      buffers_(ActivityBuffers::of_process()) {
  names_.want(options.range);
}

void Recorder::start_writing() {
  write_facts(false);  // also of a process that is killed at once
  writer_ = std::thread([this] { run(); });
}

void Recorder::add_cuda() {
  const std::lock_guard lock(cuda_mutex_);
  if (std::exchange(has_cuda_, true)) return;
  const auto loaded = loaded_libraries();
  const int major = loaded_cuda_major(loaded);
  gpu_ = make_records(major, log_, process_, *this);
  if (!gpu_) {
    why_no_gpu_ = major == 0 ? "neither CUDA's runtime nor the driver says which release the program uses"
                             : "the program uses CUDA " + std::to_string(major) +
                                   ", whose kernels are not recorded; expected 12 or 13";
    return;
  }
  // CUPTI describes devices as CUDA starts.
  const auto devices = woken_ ? driver_devices() : std::vector<DriverDevice>();
  for (const auto& [device, uuid] : devices) {
    log_.add(device);
    if (!uuid.empty()) described_[device.id] = uuid;
  }
  for (const auto& old : buffers_.take_full()) buffers_.give_back(old.bytes);  // of the recording before
  if (!gpu_->start(buffers_, devices.empty())) why_no_gpu_ = gpu_->why();
  if (options_.counters != CounterMode::none && gpu_->started()) {
    counting_ = new Counting(options_, *gpu_, *this, *this);
    end_counting_at_exit();
  }
  if (options_.counters != CounterMode::rerun) switch_records(window_.is_open(), now_ns());
  if (auto* counting = counting_.load(); counting != nullptr && counting->replaces_records() && window_.is_open())
    counting->follow_window(true, true);
  // torch.profiler, which a program may use, needs what watching takes; there the hooks of modules say when.
  // What a program of torch without Python does with the profiler's API is seen by nothing else.
  const auto* watched_by_hooks = !options_.profiler_api ? "/libtorch" : options_.hooks ? "/libtorch_python" : "//";
  always_watches_ = std::none_of(loaded.begin(), loaded.end(),
                                 [=](const auto& path) { return path.find(watched_by_hooks) != std::string::npos; });
  if (always_watches_ || captures_ > 0) gpu_->watch_captures(true);
}

void Recorder::capture(bool begins) {
  if (auto* counting = counting_.load(); counting != nullptr) counting->capture(begins);
  const std::lock_guard lock(cuda_mutex_);
  captures_ = std::max(0, captures_ + (begins ? 1 : -1));
  if (gpu_ && !always_watches_) gpu_->watch_captures(captures_ > 0);
}

void Recorder::node_created(std::uint64_t node) {
  auto path = path_of_call();
  if (path.empty()) return;
  // Which node of a session it is, only the session's profile knows.
  if (path.find(static_cast<char>('0' + static_cast<int>(trace::RangeKind::python)) +
                std::string(trace::kSessionRun)) != std::string::npos)
    path +=
        std::string("\n") + trace::kCaptureTime + std::to_string(now_ns()) + ' ' + std::to_string(ranges().thread());
  nodes_.created(node, names_.number(path));
}

void Recorder::node_cloned(std::uint64_t original, std::uint64_t copy) { nodes_.cloned(original, copy); }

void Recorder::pause_records(bool pause, std::int64_t since_ns) {
  const std::lock_guard lock(cuda_mutex_);
  paused_ = pause;
  switch_records(!pause && window_.is_open(), since_ns);
}

void Recorder::read_records() {
  {
    const std::lock_guard lock(cuda_mutex_);
    gpu_->flush();
  }
  const std::lock_guard lock(drain_mutex_);
  drain();
}

std::uint32_t Recorder::launch_path() { return names_.number(path_of_call()); }

std::string Recorder::path_of_call() {
  auto path = ranges().path(names_);
  const auto* line = LaunchLines::of_process().line();
  if (line == nullptr) return path;
  if (!path.empty()) path += '\n';
  return path + static_cast<char>('0' + static_cast<int>(trace::RangeKind::python)) + *line;
}

bool Recorder::is_on() const noexcept {
  if (options_.counters == CounterMode::rerun || !(window_.is_open() || is_cost_step_)) return false;
  const auto* counting = counting_.load(std::memory_order_relaxed);
  return counting == nullptr || !counting->is_counting();
}

void Recorder::end_counting() {
  if (auto* counting = counting_.load(); counting != nullptr) counting->end();
}

CounterOutcome Recorder::counter_outcome() const {
  if (options_.counters == CounterMode::none) return {};
  if (const auto* counting = counting_.load(); counting != nullptr) return counting->outcome();
  if (!has_cuda_) return {};
  return {.state = gpu_ && gpu_->cupti_version() != 0 ? CounterState::busy : CounterState::unsupported,
          .why = why_no_gpu_};
}

bool Recorder::is_counting() const noexcept {
  const auto* counting = counting_.load();
  return counting != nullptr && counting->is_counting();
}

void Recorder::close() {
  if (window_.close()) follow_window();
  if (auto* counting = counting_.load(); counting != nullptr && counting->is_counting()) counting->end_elsewhere();
}

bool Recorder::has_open_ranges() {
  const std::lock_guard lock(threads_mutex_);
  return std::any_of(threads_.begin(), threads_.end(), [](const auto& thread) { return thread->has_kept(); });
}

void Recorder::profiler_called(bool starts) {
  calls_profiler_api_ = true;
  if (window_.at_profiler(starts)) follow_window_after_work();
}

ThreadRanges& Recorder::ranges() {
  if (owner_of_ranges != this) {
    own_ranges = std::make_shared<ThreadRanges>(::syscall(SYS_gettid));
    owner_of_ranges = this;
    const std::lock_guard lock(threads_mutex_);
    threads_.push_back(own_ranges);
  }
  return *own_ranges;
}

void Recorder::follow_window() {
  if (options_.counters == CounterMode::rerun) {
    if (auto* counting = counting_.load(); counting != nullptr)
      counting->follow_window(window_.is_open(), std::this_thread::get_id() != writer_.get_id());
    return;
  }
  const std::lock_guard lock(cuda_mutex_);
  if (!gpu_) return;
  switch_records(!paused_ && (window_.is_open() || is_cost_step_), now_ns());
}

/// CUPTI loses kernels that have not ended when it is switched off, and those launched before it is switched on would
/// be idle time of the GPU.
void Recorder::follow_window_after_work() {
  bool may_wait = false;
  {
    // Waiting would disturb a stream that is captured.
    const std::lock_guard lock(cuda_mutex_);
    may_wait = (has_hooks_ || always_watches_) && captures_ == 0 && stream_captures_ <= 0 && gpu_ && gpu_->started();
  }
  if (void* context = may_wait ? current_context() : nullptr; context != nullptr) {
    (void)synchronize(context);
    // CUPTI 13.0 moves the ends of a replayed graph's kernels by milliseconds if it is switched off before it has
    // delivered them.
    if (!window_.is_open()) {
      const std::lock_guard lock(cuda_mutex_);
      gpu_->flush();
    }
  }
  follow_window();
}

void Recorder::switch_records(bool on, std::int64_t since_ns) {
  if (std::exchange(records_, on) == on) return;
  if (!on) {
    off_since_ns_ = since_ns;
    gpu_->switch_off();
    return;
  }
  gpu_->switch_on();
  if (off_since_ns_ == 0 || !window_.is_open()) return;  // nothing was recorded before, or nothing of this is kept
  if (!pauses_) {
    pauses_ = std::make_shared<ThreadRanges>(kPauseLane);
    const std::lock_guard lock(threads_mutex_);
    threads_.push_back(pauses_);
  }
  pauses_->add(
      {off_since_ns_, now_ns(), names_.number(std::string(trace::kRecordingPaused)), trace::RangeKind::overhead});
}

void Recorder::push(std::uint32_t name, trace::RangeKind kind, const void* domain) {
  if (names_.is_wanted(name) && window_.at_range(true)) {
    follow_window_after_work();
    // Modules within a backward pass are not calls of their own.
    ranges().keep(names_.number(std::string(trace::kBackwardPass)), now_ns());
  }
  ranges().push(name, kind, domain, now_ns(), is_on());
}

void Recorder::pop(const void* domain) {
  const auto now = now_ns();
  const auto name = ranges().pop(domain, now);
  last_end_ns_.store(now, std::memory_order_relaxed);
  if (names_.is_wanted(name) && window_.at_range(false)) follow_window_after_work();
}

void Recorder::step() {
  hooks_start();  // nothing else knows of steps
  const auto now = now_ns();
  end_step(now);
  auto* counting = counting_.load();
  bool switched = false;
  if (counting == nullptr || !counting->at_step(step_)) {
    switched = window_.at_step();
    if (switched) follow_window_after_work();
    if (counting != nullptr) (void)counting->at_step_for_graphs(step_, recorded_steps_, window_.is_over());
  }
  if (!woken_ && window_.is_over() &&
      (counting == nullptr || !(counting->is_counting() || counting->replaces_records())))
    measure_cost(now);
  const std::lock_guard lock(step_mutex_);
  step_kept_ = is_on();
  if (counting != nullptr || switched) step_begun_ns_ = now_ns();  // what that took is no part of it
}

void Recorder::measure_cost(std::int64_t now) {
  {
    const std::lock_guard lock(step_mutex_);
    const bool records = cost_.step_begins(now);
    if (records == is_cost_step_.exchange(records)) return;
    if (records && kept_until_ns_ > now) kept_until_ns_ = now;
  }
  follow_window();
}

/// A step ends where the next begins, with the names that the PyTorch profiler has. As it may begin and end anywhere
/// between ranges of its thread, it is on a lane of its own.
void Recorder::end_step(std::int64_t now) {
  const std::lock_guard lock(step_mutex_);
  if (!steps_) {
    steps_ = std::make_shared<ThreadRanges>(kStepLane);
    const std::lock_guard threads(threads_mutex_);
    threads_.push_back(steps_);
  }
  if (step_kept_) ++recorded_steps_;
  const bool is_cut = woken_ && !window_.is_open();  // by the end of the recording
  if (step_ > 0 && step_kept_ && !is_cut && now > step_begun_ns_)
    steps_->add(
        {step_begun_ns_, now, names_.number("ProfilerStep#" + std::to_string(step_)), trace::RangeKind::annotation});
  ++step_;
  step_begun_ns_ = now;
}

void Recorder::run() {
  ::pthread_setname_np(::pthread_self(), "ridgeline");
  std::int64_t written_ns = now_ns();
  for (bool ends = false; !ends;) {
    {
      std::unique_lock lock(wake_mutex_);
      ends = wake_.wait_for(lock, kLookEvery, [this] { return ends_; });
    }
    if (window_.at_time(now_ns())) follow_window();
    const auto every_ns = now_ns() - begun_ns_ < kEarlyNs ? kWriteEarlyEveryNs : kWriteEveryNs;
    if (!ends && now_ns() - written_ns < every_ns) continue;
    written_ns = now_ns();
    const std::lock_guard lock(drain_mutex_);
    drain();
    write_facts(ends);
  }
}

GpuRecords* Recorder::gpu_records() {
  const std::lock_guard lock(cuda_mutex_);
  return gpu_.get();
}

std::optional<StepCost::Result> Recorder::step_cost() {
  const std::lock_guard lock(step_mutex_);
  return cost_.result();
}

void Recorder::drain() {
  if (auto* gpu = gpu_records(); gpu != nullptr)
    for (const auto& full : buffers_.take_full()) {
      gpu->read(full, kept_until_ns_);
      buffers_.give_back(full.bytes);
    }
  if (auto* counting = counting_.load(); counting != nullptr) counting->write(log_, names_, process_);
  std::vector<std::shared_ptr<ThreadRanges>> threads;
  {
    const std::lock_guard lock(threads_mutex_);
    threads = threads_;
  }
  auto& table = log_.events.ranges;
  for (const auto& thread : threads)
    for (const auto& range : thread->take()) {
      if (range.start_ns >= kept_until_ns_) continue;
      table.add(range.start_ns, range.end_ns - range.start_ns, log_.name(names_.text(range.name)),
                log_.thread_lane({process_, thread->thread()}), 0);
      table.kind.push_back(range.kind);
      table.sequence.push_back(-1);
      table.forward_thread.push_back(0);
    }
  for (const auto& node : nodes_.take()) log_.add({process_, node.node, log_.name(names_.text(node.path))});
  if (!failure_.empty()) {
    log_.events = {};
    return;
  }
  if (auto done = log_.flush(); !done) {
    failure_ = done.error().message;
    if (window_.close()) follow_window();
  }
  const bool too_many = options_.max_events > 0 && log_.written() > options_.max_events;
  const bool too_large = options_.max_bytes > 0 && log_.bytes() > options_.max_bytes;
  if (!(too_many || too_large) || std::exchange(full_, true)) return;
  full_of_events_ = too_many;
  if (window_.close()) follow_window();
}

const char* Recorder::state() const {
  if (full_ || !failure_.empty()) return "stopped_full";
  if (has_cuda_ && (!gpu_ || !gpu_->started())) return !gpu_ || gpu_->cupti_version() == 0 ? "no_cupti" : "busy";
  return window_.is_open() || window_.is_over() ? "recording" : "waiting";
}

/// Written beside its place and moved there, so that who reads it sees one of them whole.
void Recorder::write_facts(bool ended) {
  const auto path = stem_ + ".facts";
  std::FILE* file = std::fopen((path + ".new").c_str(), "we");
  if (file == nullptr) return;
  const auto number = [file](const char* key, auto value) {
    std::fprintf(file, "%s=%lld\n", key, static_cast<long long>(value));
  };
  const auto text = [file](const char* key, const std::string& value) {
    if (!value.empty()) std::fprintf(file, "%s=%s\n", key, value.c_str());
  };
  const std::lock_guard lock(cuda_mutex_);
  number("pid", process_);
  text("name", command_line());
  text("state", state());
  text("why", failure_.empty() ? why_no_gpu_ : failure_);
  number("kernels", gpu_ ? gpu_->kernels() : 0);
  number("copies", gpu_ ? gpu_->copies() : 0);
  number("zero_time", gpu_ ? gpu_->zero_time() : 0);
  number("dropped", gpu_ ? gpu_->dropped() : 0);
  number("events", log_.written());
  number("full_of_events", full_of_events_);
  number("bytes", log_.bytes());
  number("begun_ns", begun_ns_);
  number("ended_ns", now_ns());
  if (const auto cost = step_cost()) {
    number("step_without_ns", cost->without_ns);
    number("step_with_ns", cost->with_ns);
    number("step_spread_ns", cost->spread_ns);
  }
  number("recorded_steps", window_.recorded_steps());
  for (const auto& [device, uuid] : described_) text("device", std::to_string(device) + " " + uuid);
  if (gpu_)
    for (const auto& [device, uuid] : gpu_->devices()) text("device", std::to_string(device) + " " + uuid);
  number("uses_cuda", has_cuda_);
  if (options_.lines && options_.counters != CounterMode::rerun) number("lines", LaunchLines::of_process().taken());
  number("profiler_api", calls_profiler_api_.load());
  number("cupti", gpu_ ? gpu_->cupti_version() : 0);
  const auto counters = counter_outcome();
  text("counters", name_of(counters.state));
  text("counters_why", counters.why);
  number("counters_launches", counters.launches);
  number("counters_left_out", counters.left_out);
  if (ended || says_that_it_ends_) number("finished", 1);
  std::fclose(file);
  std::error_code ignored;
  std::filesystem::rename(path + ".new", path, ignored);
}

void Recorder::flush() {
  end_counting();
  {
    const std::lock_guard lock(cuda_mutex_);
    if (gpu_) gpu_->flush();
  }
  if (owner_of_ranges == this && own_ranges) own_ranges->end_all(now_ns());
  const std::lock_guard lock(drain_mutex_);
  says_that_it_ends_ = true;
  drain();
  write_facts(true);
}

void Recorder::at_exit() {
  end_counting();
  {
    const std::lock_guard lock(cuda_mutex_);
    if (gpu_) gpu_->flush();
  }
  {
    const std::lock_guard lock(wake_mutex_);
    ends_ = true;
  }
  if (own_ranges && owner_of_ranges == this) own_ranges->end_all(now_ns());
  if (steps_) end_step(last_end_ns_);  // the end of the process is no part of it
  wake_.notify_all();
  if (writer_.joinable()) writer_.join();
  if (failure_.empty()) (void)log_.finish();
  write_facts(true);
  if (!woken_) return;
  const std::lock_guard lock(cuda_mutex_);
  if (gpu_) gpu_->stop();
  const std::lock_guard threads(threads_mutex_);
  threads_.clear();
}

}  // namespace ridgeline::inject
