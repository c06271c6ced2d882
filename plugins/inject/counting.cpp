// SPDX-License-Identifier: Apache-2.0
#include "counting.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "driver_calls.hpp"
#include "kernel_name.hpp"
#include "now.hpp"

namespace ridgeline::inject {
namespace {

constexpr const char* kGraphLaunch = "cudaGraphLaunch";
constexpr double kPermillePerPercent = 10;
constexpr int kMostCapturedSteps = 4;  // compilers capture for the inputs of each of the first steps

std::int64_t whole(double value) { return value < 0 ? -1 : std::llround(value); }

/// What is known before any kernel has run: the process is one of several, each with GPUs of its own. Libraries that
/// are loaded say nothing: PyTorch loads those of NCCL and NVSHMEM in each process.
const char* many_processes() {
  static constexpr std::array kSizes{"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                     "SLURM_STEP_NUM_TASKS"};
  const bool several = std::any_of(kSizes.begin(), kSizes.end(), [](const char* variable) {
    const char* size = std::getenv(variable);
    return size != nullptr && std::atoi(size) > 1;
  });
  return several ? "the program is one of several processes, whose kernels may wait for each other" : nullptr;
}

}  // namespace

Counting::Counting(const Options& options, GpuRecords& gpu, LaunchPlaces& places, CountingHost& host)
    : options_(options), gpu_(gpu), host_(host), counters_(gpu.make_counters(places)), plan_(options.warmup_steps) {}

void Counting::refuse(CounterState state, const char* why) {
  const std::lock_guard lock(mutex_);
  refusal_.state = state;
  refusal_.why = why;
}

bool Counting::refuses() {
  const auto seen = gpu_.seen();
  if (const char* why = many_processes(); why != nullptr)
    refuse(CounterState::collectives, why);
  else if (seen.collectives)
    refuse(CounterState::collectives, "the program runs collectives, which wait for other GPUs");
  else if (seen.overlaps && !options_.counters_force)
    refuse(CounterState::concurrent, "kernels of several streams run at the same time, and one may wait for another");
  else
    return false;
  return true;
}

bool Counting::at_step(std::int64_t step) {
  if (replaces_records()) {
    counters_->set_step(step, true);
    return false;
  }
  bool again = false;
  if (is_counting()) {
    if (std::this_thread::get_id() != owner_) return false;
    if (fills_caches_ > 0 && counters_->is_open()) {
      counters_->set_step(step, --fills_caches_ == 0);
      return plan_.takes_recorded(step);
    }
    again = !counters_->is_open() && counters_->outcome().launches == 0 && ++captured_steps_ <= kMostCapturedSteps;
    end_steps();
  }
  if (plan_.precedes(step)) counters_->watch();
  if (!(plan_.first(step) || again) || !begin_steps(step)) return false;
  plan_.count_first();
  return plan_.takes_recorded(step);
}

bool Counting::at_step_for_graphs(std::int64_t step, std::int64_t recorded, bool is_over) {
  if (replaces_records() || is_counting() || counters_->is_capturing() || !plan_.second(recorded, is_over))
    return false;
  // Records come late; those of the steps so far are needed now, and only once.
  if (captured_ && !std::exchange(looked_for_graphs_, true)) read_records();
  if (!gpu_.seen().graphs || !begin_steps(step)) return false;
  plan_.end();
  return true;
}

void Counting::read_records() {
  if (void* context = current_context(); context != nullptr) (void)synchronize(context);
  host_.read_records();
}

bool Counting::begin_steps(std::int64_t step) {
  if (counters_->is_capturing()) return false;
  {
    const std::lock_guard lock(mutex_);
    tried_ = true;
  }
  if (current_context() == nullptr) {
    refuse(CounterState::failed, "the thread that makes the steps has no CUDA context");
    return false;
  }
  const auto begun_ns = now_ns();
  read_records();
  if (refuses()) {
    plan_.end();
    return false;
  }
  refuse(CounterState::none, "");
  host_.pause_records(true, begun_ns);
  owner_ = std::this_thread::get_id();
  const auto launches = counters_->watched_launches();
  fills_caches_ = CountingPlan::steps_to_fill_caches(launches);
  counters_->set_step(step, false);
  counting_ = counters_->open(launches * static_cast<std::size_t>(fills_caches_ + 1) + launches / 2);
  if (is_counting()) return true;
  host_.pause_records(false, 0);
  if (counters_->is_over()) plan_.end();
  return false;
}

void Counting::end_steps() {
  counters_->close();
  counting_ = false;
  host_.pause_records(false, 0);
  if (counters_->is_over() || counters_->outcome().graphs) plan_.end();
}

void Counting::capture(bool begins) {
  captured_ = true;
  counters_->capture(begins);
}

void Counting::follow_window(bool is_open, bool on_own_thread) {
  if (is_open) {
    {
      const std::lock_guard lock(mutex_);
      tried_ = true;
    }
    if (!refuses()) counters_->open_with_launches();
  } else if (on_own_thread) {
    counters_->close();
  } else {
    counters_->close_with_launches();
  }
}

void Counting::end() {
  if (replaces_records() || (is_counting() && std::this_thread::get_id() == owner_)) counters_->close();
}

CounterOutcome Counting::outcome() const {
  auto out = counters_->outcome();
  const std::lock_guard lock(mutex_);
  if (refusal_.state != CounterState::none && out.launches == 0) {
    out.state = refusal_.state;
    out.why = refusal_.why;
  }
  if (out.state != CounterState::none) return out;
  if (tried_) {
    out.state = CounterState::failed;
    out.why = is_counting() ? "the program ended in the counted step" : "no kernel ran in what was counted";
  } else {
    out.state = CounterState::no_steps;
    out.why = "the program has no steps of a PyTorch model, or ended before the one to be counted";
  }
  return out;
}

void Counting::write(trace::EventLog& log, RangeNames& names, std::int64_t process) {
  auto& table = log.events.counted;
  for (const auto& launch : counters_->take()) {
    const bool graph = launch.kernel.empty();
    const auto [name, is_new] = kernels_.try_emplace(launch.kernel, 0);
    if (is_new) name->second = log.name(graph ? kGraphLaunch : plain_kernel_name(launch.kernel.c_str()));
    table.add(launch.start_ns, std::max<std::int64_t>(0, whole(launch.values.duration_ns)), name->second,
              log.gpu_lane({process, static_cast<std::int32_t>(launch.device), launch.context, launch.stream}), 0);
    table.grid.push_back(launch.grid);
    table.block.push_back(launch.block);
    table.path.push_back(log.name(names.text(launch.path)));
    table.step.push_back(launch.step);
    table.graph_nodes.push_back(graph ? 1 : 0);
    table.dram_read_bytes.push_back(whole(launch.values.dram_read_bytes));
    table.dram_write_bytes.push_back(whole(launch.values.dram_write_bytes));
    table.l2_bytes.push_back(whole(launch.values.l2_bytes));
    table.tensor_permille.push_back(static_cast<std::int32_t>(
        launch.values.tensor_percent < 0 ? -1 : whole(launch.values.tensor_percent * kPermillePerPercent)));
  }
}

}  // namespace ridgeline::inject
