// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "schema/training_settings.hpp"
#include "schema/trial_outcome.hpp"
#include "workload/failure_facts.hpp"

namespace ridgeline::workload {

/// A failure of a synthetic step and the settings that meet it.
struct StepFault {
  std::string kind;  ///< a name of step_fault_kinds
  schema::TrialPhase phase = schema::TrialPhase::measure;
  std::int64_t batch_from = 0;  ///< batches of this size and above
  std::optional<int> workers;
  std::optional<schema::AmpMode> amp;
  std::optional<schema::DataMode> data;
  [[nodiscard]] bool meets(const schema::TrainingSettings& settings, schema::DataMode mode) const noexcept;
};

/// A made-up training step as text (`--model synthetic:TEXT`): items `name=value` separated by commas. Numbers, all of
/// them 0 or more:
/// | item | meaning | default |
/// |---|---|---|
/// | compute_us | device time a sample, forward and backward, without AMP | 60 |
/// | fill | samples' worth of device time that a step costs besides: larger batches are nearly free below it | 16 |
/// | launch_ms | what the training thread needs to launch a step; the device waits when it is done earlier | 0.5 |
/// | optimizer_ms | device time of the optimizer | 0.3 |
/// | amp_gain | speed of bf16 and fp16 over full precision | 1.8 |
/// | rest_ms | what the loop does besides | 0.02 |
/// | wait_ms | of forward: the training thread sleeps, whatever the batch | 0 |
/// | read_us | a worker's time a sample waiting for storage | 20 |
/// | storage_rate | samples/s that storage can give at all; 0: no limit | 0 |
/// | decode_us | a worker's CPU time a sample: filters, transforms | 300 |
/// | batch_us | handing over a batch, for each worker: what small batches cost beside their samples | 0 |
/// | cores | of the machine modelled | 16 |
/// | threads | of each worker beside its own, which never rest | 0 |
/// | over | share of a step's time lost when there are twice as many workers as cores | 0.6 |
/// | sample_kb | bytes of a sample on its way to the device, in 1e3 | 150 |
/// | pinned_gb_s, pageable_gb_s | bandwidth of copies | 20, 6 |
/// | memory_gb | of the device | 80 |
/// | model_gb, sample_gb | memory taken in any case, and by one sample of a batch without AMP | 1, 0.02 |
/// | amp_memory | share of sample_gb that a sample takes with AMP | 0.6 |
/// | thrash | share of a step's time lost when more than 93 % of the memory is taken | 0.5 |
/// | noise | standard deviation of the log-normal noise of a step | 0.01 |
/// | drift | slow swing of all times, over 60 s | 0 |
/// | warmup | steps until times are steady | 3 |
/// | startup_ms, worker_ms | making the process ready, and each of its workers | 1500, 30 |
/// | loader_stats | 1: the loader tells read and decode times; 0: only its workers' CPU time is known | 0 |
/// | seed | of the noise | 1 |
/// | fault=KIND[@PHASE] [if batch>=N and workers=N and amp=NAME and data=NAME] | a failure; repeatable | |
struct SyntheticStepOptions {
  double compute_us = 60;
  double fill = 16;
  double launch_ms = 0.5;
  double optimizer_ms = 0.3;
  double amp_gain = 1.8;
  double rest_ms = 0.02;
  double wait_ms = 0;
  double read_us = 20;
  double storage_rate = 0;
  double decode_us = 300;
  double batch_us = 0;
  double cores = 16;
  double threads = 0;
  double over = 0.6;
  double sample_kb = 150;
  double pinned_gb_s = 20;
  double pageable_gb_s = 6;
  double memory_gb = 80;
  double model_gb = 1;
  double sample_gb = 0.02;
  double amp_memory = 0.6;
  double thrash = 0.5;
  double noise = 0.01;
  double drift = 0;
  double warmup = 3;
  double startup_ms = 1500;
  double worker_ms = 30;
  double loader_stats = 0;
  double seed = 1;
  std::vector<StepFault> faults;
};

/// Errors (invalid_argument) name the item and the nearest known name.
[[nodiscard]] base::Result<SyntheticStepOptions> parse_step_options(std::string_view text);

/// The facts that each kind of fault shows to the classifier, by name: out-of-memory kinds begin with "oom_".
[[nodiscard]] const std::vector<std::pair<std::string, FailureFacts>>& step_fault_kinds();

}  // namespace ridgeline::workload
