// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/error.hpp"
#include "ridgeline/profile_flags.hpp"
#include "ridgeline/record_flags.hpp"
#include "ridgeline/subcommand.hpp"
#include "schema/profile.hpp"

namespace ridgeline::app {

/// A program that ran.
struct RecordedProgram {
  int exit_code = 0;                      ///< its own
  std::optional<schema::ProfileRun> run;  ///< as it is stored; nullopt: nothing was recorded, or it was interrupted
};

/// `profile -- COMMAND`: runs Context::program, and shows and stores the profile of what it recorded. Once the program
/// ran, its exit code is ours.
[[nodiscard]] base::Result<RecordedProgram> record_program(const CLI::App& given, const RecordFlags& recording,
                                                           const ProfileFlags& flags, Context& context);

}  // namespace ridgeline::app
