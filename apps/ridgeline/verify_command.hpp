// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "ridgeline/profile_flags.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/verify_flags.hpp"
#include "schema/profile.hpp"

namespace ridgeline::app {

/// Tries what a finding of a stored profile proposes, and shows and stores what came of it.
[[nodiscard]] base::Result<int> verify_finding(schema::ProfileRun run, const VerifyFlags& verify,
                                               const ProfileFlags& flags, const Context& context);

/// The same of the profile that `reference` names as `show` does; "": the newest.
[[nodiscard]] base::Result<int> verify_stored(const std::string& reference, const VerifyFlags& verify,
                                              const ProfileFlags& flags, const Context& context);

/// Whether the word in the place of MODEL names a stored run: no file, and nothing that looks like one.
[[nodiscard]] bool names_stored_run(const std::string& word);

}  // namespace ridgeline::app
