// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "campaign/tune/tune_campaign.hpp"
#include "config/config_patch.hpp"
#include "execute/worker_jobs.hpp"
#include "ridgeline/output_flags.hpp"
#include "ridgeline/runtime_flags.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// The flags of `ridgeline tune`.
struct TuneFlags : OutputFlags {
  std::string model;
  std::string model_option;
  std::string python;      ///< "infer.py:make"
  std::string python_exe;  ///< "": python3 of PATH
  std::string also;
  std::string save_onnx;
  std::string config_section;  ///< "": not given
  bool quick = false;
  std::optional<std::int64_t> warmup;
  std::optional<std::int64_t> runs;
  std::string provider;
  std::string tensor_location;  ///< "": not given
  std::string search = "adaptive";
  std::string space;
  std::vector<std::string> set;
  std::string batch;
  std::vector<std::string> shapes;
  std::vector<std::string> inputs;
  std::string objective = "latency";
  std::vector<std::string> constraints;
  std::optional<double> max_time_s;
  std::optional<double> trial_time_s;
  double min_effect = 0.02;
  std::string accuracy_tolerance;
  std::string precision;  ///< "": fp32
  std::optional<double> metric_loss;
  std::string isolation = "pooled";
  RuntimeFlags where;
  std::string devices;  ///< "": the first GPU
  std::uint64_t seed = 1;
  std::optional<std::int64_t> trials;
  bool fresh = false;
  bool no_ablation = false;
  bool no_comparisons = false;
  bool provenance = false;
  int verbose = 0;
};

/// The flags read and checked.
struct TunePlan {
  campaign::TuneRequest request;
  config::PatchOptions patch;
  std::string later;  ///< what `ridgeline apply` has to be given beside run and file
  execute::Isolation isolation = execute::Isolation::pooled;
};

/// Reads --config and --space too, so that every fault is found before anything is measured.
[[nodiscard]] base::Result<TunePlan> read_tune_flags(const TuneFlags& flags, const Context& context);

}  // namespace ridgeline::app
