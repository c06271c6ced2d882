// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "campaign/profile/record_options.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// What of a program `profile -- COMMAND` records.
struct RecordFlags : campaign::RecordOptions {
  std::string capture_range;
  std::string max_size = "2GB";
  bool no_modules = false;
  std::string counters = "window";
  std::optional<std::int64_t> pid;  ///< of a process that runs already
  bool idle = false;
  bool environment = false;
};

/// What `profile` is to record.
enum class RecordMode {
  none,         ///< a model is profiled
  program,      ///< the command behind "--"
  process,      ///< --pid
  idle,         ///< nothing yet: the command behind "--" is started to be recorded later
  environment,  ///< nothing: the environment of such a command is printed
};
[[nodiscard]] RecordMode record_mode(const RecordFlags& flags, const Context& context);

/// Of `profile` as a whole, whatever it profiles.
[[nodiscard]] bool is_shared_option(const CLI::Option& option);

void add_record_flags(CLI::App& command, Context& context, RecordFlags& flags);

/// That the options given go with what is to be recorded, and with each other. Errors: invalid_argument.
[[nodiscard]] base::Result<void> check_record_flags(const CLI::App& command, const Context& context, RecordMode mode);

/// Of the options given. Errors: invalid_argument.
[[nodiscard]] base::Result<campaign::RecordOptions> record_options(const CLI::App& command, const RecordFlags& flags);

}  // namespace ridgeline::app
