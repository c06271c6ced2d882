// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/write_flags.hpp"

#include <cstdio>

#include "ridgeline/terminal.hpp"

namespace ridgeline::app {

using base::ErrorCode;
using base::fail;

ApplyMode WriteFlags::mode() const noexcept {
  if (dry_run) return ApplyMode::dry_run;
  return apply ? ApplyMode::apply : ApplyMode::ask;
}

void add_write_flags(CLI::App& command, WriteFlags& flags, const std::string& config_help, ApplySpelling spelling) {
  command.add_option("--config", flags.config, config_help)->type_name("FILE");
  const std::string apply_help = "Write the recommended values into --config, with a backup";
  if (spelling == ApplySpelling::flag) {
    command.add_flag("--apply", flags.apply, apply_help);
  } else {
    command
        .add_option_function<std::string>(
            "--apply",
            [&flags](const std::string& file) {
              flags.apply = true;
              flags.apply_file = file;
            },
            apply_help)
        ->expected(0, 1)
        ->default_str("")
        ->type_name("");
  }
  command.add_flag_callback(
      "-y,--yes", [&flags] { flags.apply = true; }, "Same as --apply");
  command.add_flag("--dry-run", flags.dry_run, "Show the change to --config without writing it");
  command.add_flag("--no-apply", flags.no_apply, "Do not change --config, and do not ask");
}

bool asks_to_write(const WriteFlags& flags) {
  return !flags.file().empty() && !flags.concerns_file() && !flags.no_apply && can_ask();
}

base::Result<void> check_write_flags(const WriteFlags& flags) {
  const bool named_only = !flags.apply_file.empty() && flags.dry_run;  // the older --apply FILE --dry-run
  if (flags.apply + flags.dry_run + flags.no_apply > 1 + named_only)
    return fail(ErrorCode::invalid_argument, "--apply (--yes), --dry-run and --no-apply exclude each other")
        .hint("give one");
  if (flags.concerns_file() && flags.file().empty())
    return fail(ErrorCode::invalid_argument, "{}: no file to write to", flags.apply ? "--apply" : "--dry-run")
        .hint("add --config FILE");
  if (!flags.apply_file.empty())
    fmt::print(stderr, "note: --apply {0}: the next version will require --config {0} --apply\n", flags.apply_file);
  return {};
}

}  // namespace ridgeline::app
