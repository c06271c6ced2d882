// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/verify_flags.hpp"

#include <string>

#include "ridgeline/flag_values.hpp"
#include "ridgeline/record_flags.hpp"

namespace ridgeline::app {

using base::ErrorCode;
using base::fail;

void add_verify_flags(CLI::App& command, VerifyFlags& flags) {
  command.option_defaults()->group(std::string(kVerifyGroup));
  add_number(
      command, "--verify", flags.finding, 1, kAnyNumber,
      "Try the change that finding N proposes, and measure it; of the newest profile, of RUN in the place of MODEL, "
      "or of what is profiled now");
  add_time(command, "--max-time", flags.max_time_s, "Time limit for --verify", "1s");
}

base::Result<void> check_verify_flags(const CLI::App& command, const VerifyFlags& flags, bool is_stored) {
  if (!flags.finding && command.get_option("--max-time")->count() > 0)
    return fail(ErrorCode::invalid_argument, "--max-time: only --verify has a time limit")
        .hint("add --verify N, or leave it out");
  if (!is_stored) return {};
  for (const auto* option : command.get_options())
    if (option->count() > 0 && !option->get_positional() && !is_shared_option(*option))
      return fail(ErrorCode::invalid_argument, "{}: --verify runs a stored profile's own program or model",
                  option->get_name())
          .hint("leave it out, or profile again: ridgeline profile MODEL --verify N");
  return {};
}

}  // namespace ridgeline::app
