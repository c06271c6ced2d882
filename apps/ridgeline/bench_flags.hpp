// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "campaign/bench/bench_campaign.hpp"
#include "campaign/bench/bench_config.hpp"
#include "execute/gpu_choice.hpp"
#include "execute/json_child.hpp"
#include "ridgeline/output_flags.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// The flags of `ridgeline bench`; "" is not given.
struct BenchFlags : OutputFlags {
  std::string data_path;
  std::vector<std::string> batch_sizes;
  std::vector<std::string> num_workers;
  std::optional<std::int64_t> steps;
  std::string devices = "auto";
  std::string search;
  std::string model;
  std::string python;       ///< module:function
  std::string interpreter;  ///< --python-exe
  std::vector<std::string> options;
  std::string memory_limit;         ///< --memory-limit
  std::vector<std::string> levers;  ///< --lever
  std::vector<std::string> tries;   ///< --try
  std::string amp;
  std::string pin_memory;
  std::optional<double> mem_headroom;
  std::optional<double> tolerance;
  std::optional<std::int64_t> stability_run;
  std::optional<double> max_time_s;
  std::optional<std::uint64_t> seed;
  std::string torch_plugin;  ///< file of the LibTorch plugin
  std::string workdir;       ///< --workdir
  bool spread = false;
  bool no_diagnosis = false;
  bool fresh = false;
};

struct BenchPlan {
  campaign::BenchRequest request;
  campaign::BenchConfig config;
  schema::Environment environment;               ///< of this machine
  base::Nanoseconds begun{0};                    ///< by base::system_clock(): --max-time counts from here
  std::optional<execute::RunDeadline> deadline;  ///< of trials
  execute::GpuGroup gpus;                        ///< trials run on; several: each with one of them; none on a CPU
  std::vector<std::pair<std::string, std::string>> child_environment;  ///< of a script's runs
  std::filesystem::path logs;                                          ///< of a script's runs
};

/// What to do where the file to change is not there.
inline constexpr const char* kNoTrainingFile =
    "create it (it may be empty), or name your training's file with --config";

/// Reads the flags and --config, finds the device, and checks everything that can be checked before anything is
/// measured.
[[nodiscard]] base::Result<BenchPlan> read_bench_flags(const BenchFlags& flags, const Context& context);

}  // namespace ridgeline::app
