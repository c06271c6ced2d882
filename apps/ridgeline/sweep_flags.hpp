// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "campaign/sweep/sweep_campaign.hpp"
#include "ridgeline/output_flags.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/worker_options.hpp"

namespace ridgeline::app {

/// What to do where the file to change is not there.
inline constexpr const char* kNoSweepFile = "use --config to name the YAML file with the parameters";

/// The flags of `ridgeline sweep`; "" is not given.
struct SweepFlags : OutputFlags {
  std::vector<std::string> command;  ///< behind --
  std::vector<std::string> stray;    ///< words before --
  std::vector<std::string> params;
  std::vector<std::string> environment;
  std::vector<std::string> metrics;
  std::string metric_file;
  std::vector<std::string> depends;
  std::string objective;
  std::string search = "grid";
  std::size_t trials = 40;
  int repeat = 3;
  int warmup = 0;
  std::optional<double> timeout_s;
  std::optional<double> max_time_s;
  double min_effect = 0.02;
  double tolerance = 0.03;
  std::uint64_t seed = 1;
  std::string devices;
  std::string folder;
  std::vector<std::string> apply_to;
  bool fresh = false;
  bool keep_going = false;
  bool spread = false;
};

struct SweepPlan {
  campaign::SweepRequest request;
  schema::Environment environment;  ///< of this machine
  std::vector<CommandSlot> slots;   ///< at least one
  std::vector<std::string> notes;   ///< what --config holds now
};

/// Reads the flags and checks everything that can be checked before anything is run.
[[nodiscard]] base::Result<SweepPlan> read_sweep_flags(const SweepFlags& flags, const Context& context);

/// --apply-to NAME=PATH by name. Errors: another form.
[[nodiscard]] base::Result<std::map<std::string, std::string>> read_apply_to(const std::vector<std::string>& texts);

}  // namespace ridgeline::app
