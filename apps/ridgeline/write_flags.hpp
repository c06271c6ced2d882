// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ridgeline/apply_changes.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// The flags of a command that may change one of the user's files: what has to be said before anything is written.
struct WriteFlags {
  std::string config;      ///< --config: the current values, and the file that may be changed
  std::string apply_file;  ///< of the older spelling --apply FILE; "" where it is not used
  bool apply = false;      ///< --apply or --yes
  bool dry_run = false;
  bool no_apply = false;

  /// The file that may be changed, "" when none is named.
  [[nodiscard]] const std::string& file() const noexcept { return apply_file.empty() ? config : apply_file; }
  /// A change was asked for, or is shown: whether the file can take it is checked before anything is measured.
  [[nodiscard]] bool concerns_file() const noexcept { return apply || dry_run; }
  /// The change will be written without a question.
  [[nodiscard]] bool writes() const noexcept { return apply && !dry_run; }
  [[nodiscard]] ApplyMode mode() const noexcept;
};

enum class ApplySpelling { flag, flag_or_file };

/// Adds --config, --apply, --yes, --dry-run and --no-apply. `config_help` says what the command reads in the file; with
/// flag_or_file `--apply FILE` still works and prints a note.
void add_write_flags(CLI::App& command, WriteFlags& flags, const std::string& config_help, ApplySpelling spelling);

/// Whether the user will be asked at the end: neither told before nor ruled out, and on a terminal.
[[nodiscard]] bool asks_to_write(const WriteFlags& flags);

/// Errors (invalid_argument): flags that exclude each other, or no file to write.
[[nodiscard]] base::Result<void> check_write_flags(const WriteFlags& flags);

}  // namespace ridgeline::app
