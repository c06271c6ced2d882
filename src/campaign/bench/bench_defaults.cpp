// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/bench_defaults.hpp"

#include <algorithm>

#include "analysis/bench_experiments.hpp"

namespace ridgeline::campaign {
namespace {

using schema::AmpMode;

constexpr std::int64_t kLargestDefaultBatch = 8192;
constexpr std::int64_t kLargestTimes = 8;  ///< the batch of a script
constexpr double kTrialTimeShare = 0.05;   ///< of --max-time that warm-up and timing of one trial may take, each
constexpr double kShortestTrialS = 1;
constexpr double kLeastGraceS = 5;
constexpr double kGraceShare = 0.05;  ///< of --max-time

bool is_simulated_job(const schema::TrainingJob& job) { return job.kind == "synthetic"; }

}  // namespace

std::string default_device(const schema::TrainingJob& job, bool cuda, bool has_gpu) {
  return is_simulated_job(job) || (cuda && has_gpu) ? "cuda:0" : std::string(schema::kCpuDevice);
}

std::vector<std::int64_t> default_batches() {
  std::vector<std::int64_t> out;
  for (std::int64_t batch = 1; batch <= kLargestDefaultBatch; batch *= 2) out.push_back(batch);
  return out;
}

std::vector<std::int64_t> batches_around(std::int64_t batch) {
  std::vector<std::int64_t> out;
  for (const std::int64_t divisor : {4, 2})
    if (batch % divisor == 0) out.push_back(batch / divisor);
  for (std::int64_t times = 1; times <= kLargestTimes; times *= 2) out.push_back(batch * times);
  return out;
}

std::vector<int> default_workers(const schema::TrainingJob& job, int cpus) {
  if (!analysis::loads(job)) return {0};
  std::vector<int> out;
  for (const int workers : {0, 1, 2, 4, 8, 16})
    if (is_simulated_job(job) || workers <= cpus) out.push_back(workers);
  return out;
}

std::vector<AmpMode> default_amps(const std::string& device) {
  return schema::is_cpu_device(device) ? std::vector{AmpMode::off} : std::vector{AmpMode::off, AmpMode::bf16};
}

std::vector<bool> default_pins(const std::string& device) {
  return schema::is_cpu_device(device) ? std::vector{false} : std::vector{false, true};
}

void limit_trials(schema::TrainingPlan& plan, double max_time_s) {
  const double most_s = std::max(kShortestTrialS, kTrialTimeShare * max_time_s);
  plan.max_time_s = std::min(plan.max_time_s, most_s);
  plan.max_warmup_s = std::min(plan.max_warmup_s, most_s);
}

double grace_s(double max_time_s) { return std::max(kLeastGraceS, kGraceShare * max_time_s); }

std::optional<CurrentSettings> current_settings(const BenchConfig& config, const std::string& device) {
  if (!config.batch_size) return std::nullopt;
  const bool on_gpu = !schema::is_cpu_device(device);
  CurrentSettings out;
  auto& settings = out.settings;
  settings.batch = *config.batch_size;
  settings.workers = config.num_workers.value_or(settings.workers);
  settings.pin_memory = on_gpu && config.pin_memory.value_or(false);
  settings.amp = config.use_amp.value_or(false) ? AmpMode::bf16 : AmpMode::off;
  if (!config.num_workers) out.assumed.emplace_back("num_workers");
  if (!config.use_amp) out.assumed.emplace_back("use_amp");
  if (on_gpu && !config.pin_memory) out.assumed.emplace_back("pin_memory");
  out.unpinned = !on_gpu && config.pin_memory.value_or(false);
  return out;
}

}  // namespace ridgeline::campaign
