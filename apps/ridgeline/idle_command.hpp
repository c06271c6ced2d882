// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "ridgeline/profile_flags.hpp"
#include "ridgeline/record_flags.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// `profile --idle -- COMMAND`: Context::program takes our place, in an environment in which its processes wait to be
/// recorded. Returns only where it cannot be started.
[[nodiscard]] base::Result<int> start_idle(const RecordFlags& recording, Context& context);

/// `profile --environment`: prints that environment, a NAME=VALUE per line.
[[nodiscard]] base::Result<int> print_idle_environment(const RecordFlags& recording);

/// `profile --pid PID`: records a process that waits, and shows and stores the profile.
[[nodiscard]] base::Result<int> record_process(const CLI::App& given, const RecordFlags& recording,
                                               const ProfileFlags& flags, Context& context);

}  // namespace ridgeline::app
