// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "campaign/profile/record_campaign.hpp"
#include "ridgeline/profile_flags.hpp"
#include "ridgeline/subcommand.hpp"
#include "schema/profile.hpp"

namespace ridgeline::app {

/// A line on standard error that is no error.
void print_note(const std::string& text);

/// A line for a recording that will end before the program, or before what was asked for.
[[nodiscard]] std::string size_text(const campaign::SizeWarning& warning, const std::string& max_size);

/// Only a program that runs has an exit code; a shell's takes its place until then.
[[nodiscard]] base::Result<void> check_command(const std::vector<std::string>& command, Context& context);

/// Shows and writes what was recorded. `shares_output`: with the program. nullopt: nothing was, which one line reports.
[[nodiscard]] base::Result<std::optional<schema::ProfileRun>> show_recorded(campaign::RecordCampaign& campaign,
                                                                            const ProfileFlags& flags,
                                                                            bool shares_output);

}  // namespace ridgeline::app
