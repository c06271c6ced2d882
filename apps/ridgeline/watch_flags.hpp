// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "config/config_patch.hpp"
#include "watch/worker_probe.hpp"

namespace ridgeline::app {

/// The flags of `ridgeline watch`.
struct WatchFlags {
  std::string config;
  std::string section;  ///< "": not given
  std::string space;
  std::string run;
  std::string baseline;
  std::string model;
  std::string ort_library;
  double every_s = 60;
  double probe_time_s = 2;
  std::string threshold = "10%";
  double confidence = 0.99;
  std::vector<std::string> on_degrade;
  double retune_time_s = 300;
  std::string retune_search = "quick";
  double command_time_s = 60;
  double cooldown_s = 3600;
  std::string latency_file;
  std::string latency_socket;
  std::string isolation = "pooled";
  std::string state;
  std::optional<std::int64_t> count;
  bool once = false;
  bool quiet = false;
  bool verbose = false;
};

/// The flags read and checked.
struct WatchPlan {
  base::Nanoseconds every{};
  double probe_time_s = 2;
  double threshold = 0.1;
  double confidence = 0.99;
  bool learn = false;
  bool retune = false;
  std::optional<double> profile_s;  ///< so long the service is recorded as it becomes slower
  base::Nanoseconds cooldown{};     ///< from one profile to the next
  std::vector<std::string> commands;
  base::Nanoseconds retune_time{};
  base::Nanoseconds command_time{};
  std::string run;     ///< "latest" or an id
  std::string source;  ///< what WatchLoop::Options::source says
  std::filesystem::path state;
  config::PatchOptions patch;
  std::optional<std::int64_t> count;  ///< end after so many probes
};

/// Reads --config and --space too, so that a mistake is found at once. Errors: invalid_argument, not_found, io, one
/// line each.
[[nodiscard]] base::Result<WatchPlan> read_watch_flags(const WatchFlags& flags);

}  // namespace ridgeline::app
