// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/bench_answers.hpp"
#include "analysis/varied_settings.hpp"
#include "base/error.hpp"
#include "config/config_patch.hpp"
#include "schema/training_settings.hpp"

namespace ridgeline::campaign {

/// What the user's YAML file says of the training; what it does not say is nullopt:
///   benchmark: {batch_sizes: [..], num_workers_options: [..], steps_per_test: N, test_mixed_precision: bool,
///               test_pin_memory: bool}
///   data: {batch_size: N, num_workers: N, pin_memory: bool, data_path: FILE}
///   training: {use_amp: bool, gradient_accumulation_steps: N, learning_rate: X}
/// The file may be the training's own, with anything else in it. A key of data and training that is not there is read
/// at the only place of that name.
struct BenchConfig {
  std::optional<std::vector<std::int64_t>> batch_sizes;
  std::optional<std::vector<int>> num_workers_options;
  std::optional<std::int64_t> steps_per_test;
  std::optional<bool> test_mixed_precision;
  std::optional<bool> test_pin_memory;
  std::optional<std::int64_t> batch_size;
  std::optional<int> num_workers;
  std::optional<bool> pin_memory;
  std::optional<std::string> data_path;
  std::optional<bool> use_amp;
  std::optional<std::int64_t> gradient_accumulation_steps;
  std::optional<double> learning_rate;
  std::map<std::string, int> lines;  ///< "benchmark.batch_sizes" -> 3, of every key that is set or in not_read
  /// "data.workers" -> why: a key like one of ours, or a value that another program fills in.
  std::map<std::string, std::string> not_read;
  /// What changes the speed of a training and is not taken: the line -> "prefetch_factor: 4".
  std::map<int, std::string> not_taken;
};

/// Errors (invalid_argument, "file:line:column: ..."): malformed YAML, an unknown key of benchmark with the nearest
/// one, a value of the wrong type or out of range.
[[nodiscard]] base::Result<BenchConfig> parse_bench_config(std::string_view yaml, std::string_view file_name);

/// What the user's training file says about learning rate and accumulation now; any YAML will do.
struct TrainingConfig {
  std::optional<std::int64_t> batch_size;
  std::optional<std::int64_t> gradient_accumulation_steps;
  std::optional<double> learning_rate;
  /// Key -> "default.yaml:7: learning_rate is ${LR}, ...": a value is there, but not which one.
  std::map<std::string, std::string> unreadable;
};
[[nodiscard]] base::Result<TrainingConfig> read_training_config(std::string_view yaml, std::string_view file_name);

/// What `first` says; where it says nothing, or nothing that can be read, what `second` (the bench file) says.
[[nodiscard]] TrainingConfig merged(TrainingConfig first, const TrainingConfig& second);

/// What another batch size means for the rest of the training's settings.
struct BatchAdvice {
  std::int64_t batch_before = 0;
  std::int64_t batch_after = 0;
  std::optional<std::int64_t> accumulation;  ///< now; nullopt: given, but not to be read (`change` takes 1 for it)
  std::optional<double> learning_rate;       ///< now
  analysis::BatchConsequence change;
  std::vector<std::string> lines;  ///< all of it for a person, and what could not be read
};
/// nullopt: the batch does not change, or the old one is not known.
[[nodiscard]] std::optional<BatchAdvice> advise_on_batch(const TrainingConfig& now, std::int64_t batch);

/// Pure: puts batch_size, num_workers, pin_memory and use_amp, those of them that are `varied`, where the file has
/// them: under data and training, else at the only place of that name, else they are added under data and training
/// (edits without `before`). Bytes beside them stay as they are. Errors (invalid_argument): malformed YAML, several
/// places of one name (with their lines), a value with an anchor that is used elsewhere or one that another program
/// fills in.
[[nodiscard]] base::Result<config::PatchResult> patch_training_settings(std::string_view yaml,
                                                                        std::string_view file_name,
                                                                        const schema::TrainingSettings& settings,
                                                                        const analysis::VariedSettings& varied = {});

/// A key that the file has with another value than `settings`, and that is not `varied`: it is left as it is.
struct KeptKey {
  std::string key;    ///< "pin_memory"
  std::string value;  ///< as the file has it
};
/// Of a file that patch_training_settings takes.
[[nodiscard]] std::vector<KeptKey> kept_training_settings(std::string_view yaml, std::string_view file_name,
                                                          const schema::TrainingSettings& settings,
                                                          const analysis::VariedSettings& varied);

}  // namespace ridgeline::campaign
