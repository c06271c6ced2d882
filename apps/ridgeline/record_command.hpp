// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "ridgeline/profile_flags.hpp"
#include "ridgeline/record_flags.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// `profile -- COMMAND`: runs Context::program, and shows and stores the profile of what it recorded. Once the program
/// ran, its exit code is ours.
[[nodiscard]] base::Result<int> record_program(const CLI::App& given, const RecordFlags& recording,
                                               const ProfileFlags& flags, Context& context);

}  // namespace ridgeline::app
