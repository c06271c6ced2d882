// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "campaign/bench/bench_config.hpp"
#include "schema/training_trial.hpp"

namespace ridgeline::campaign {

/// The built-in model that data without a training of the user's are trained with, and its size.
inline constexpr const char* kDefaultModel = "gnn";
inline constexpr std::array<std::pair<const char*, const char*>, 2> kDefaultModelOptions{
    {{"depth", "3"}, {"hidden", "16"}}};

/// Of the recommended settings, in at most a trial's time.
inline constexpr std::int64_t kDefaultStabilitySteps = 200;

/// The first GPU if there is one that the job's framework uses (`cuda`), else the CPU. Simulated jobs train on a GPU.
[[nodiscard]] std::string default_device(const schema::TrainingJob& job, bool cuda, bool has_gpu);

/// What is tried unless the user says otherwise. `cpus`: that the process may use, 1 or more.
[[nodiscard]] std::vector<std::int64_t> default_batches();
/// Of a script that trains with `batch`.
[[nodiscard]] std::vector<std::int64_t> batches_around(std::int64_t batch);
[[nodiscard]] std::vector<int> default_workers(const schema::TrainingJob& job, int cpus);
[[nodiscard]] std::vector<schema::AmpMode> default_amps(const std::string& device);
[[nodiscard]] std::vector<bool> default_pins(const std::string& device);

/// A trial of a run of `max_time_s` seconds takes a small part of them only.
void limit_trials(schema::TrainingPlan& plan, double max_time_s);

/// Seconds after --max-time that what is still running has to end in.
[[nodiscard]] double grace_s(double max_time_s);

/// What the user trains with now.
struct CurrentSettings {
  schema::TrainingSettings settings;
  std::vector<std::string> assumed;  ///< keys that the file lacks, "num_workers"
  bool unpinned = false;             ///< the file asks for pinned memory, which needs a GPU
};
/// nullopt: the file has no batch size, and none is made up.
[[nodiscard]] std::optional<CurrentSettings> current_settings(const BenchConfig& config, const std::string& device);

}  // namespace ridgeline::campaign
