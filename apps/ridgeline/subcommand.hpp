// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "base/exit_code.hpp"
#include "store/store.hpp"

namespace ridgeline::app {

using enum base::ExitCode;

/// What every subcommand shares.
struct Context {
  std::vector<std::string> arguments;               ///< the whole command line behind "ridgeline"
  std::optional<std::vector<std::string>> program;  ///< the words behind "--" of a command that runs a program
  std::string database;                             ///< --db, or ""
  std::string options_file;                         ///< --options, or ""
  int exit_code = kOk;
  std::optional<base::Error> error;  ///< set by a subcommand that failed
  std::optional<int> code_of_error;  ///< in place of the error's own: of a program that ran
  int ending_signal = 0;             ///< by which we end, too, so that a shell's loop stops; 0: none
  std::string hint;                  ///< to an option that the parser refuses, or ""
  std::map<const CLI::Option*, std::vector<std::string>> choices;  ///< the words of an option, for completions

  /// --db, or the default in the XDG state folder.
  [[nodiscard]] std::filesystem::path database_path() const;
  [[nodiscard]] base::Result<store::Store> open_store(store::Access access = store::Access::write) const;
  /// To be read only. Errors: not_found where there is none; neither file nor folder is made.
  [[nodiscard]] base::Result<store::Store> open_existing_store() const;
};

/// Adds a subcommand whose body returns an exit code or an error; `example` is shown under its --help.
CLI::App* add_subcommand(CLI::App& app, Context& context, const std::string& name, const std::string& description,
                         const std::string& example, std::function<base::Result<int>()> body);

/// "stream run" for `ridgeline stream run`.
[[nodiscard]] std::string command_name(const CLI::App& command);

/// --options FILE: values for the command's own options, read before its body runs (options_file.hpp).
void add_options_file(CLI::App& command, Context& context);

/// --db, for the commands that read or write results.
void add_database_option(CLI::App& command, Context& context);

/// An option whose value is one of `words`; unknown words are refused with the nearest one named.
void add_choice(CLI::App& command, Context& context, const std::string& name, std::string& value,
                const std::vector<std::string>& words, const std::string& description);

// One function a file.
void add_tune(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_sweep(CLI::App& app, Context& context);
void add_profile(CLI::App& app, Context& context);
void add_stream(CLI::App& app, Context& context);
void add_monitor(CLI::App& app, Context& context);
void add_watch(CLI::App& app, Context& context);
void add_show(CLI::App& app, Context& context);
void add_history(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_rerun(CLI::App& app, Context& context);
void add_apply(CLI::App& app, Context& context);
void add_rollback(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_params(CLI::App& app, Context& context);
void add_version(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);
void add_complete_runs(CLI::App& app, Context& context);
void add_worker(CLI::App& app, Context& context);
void add_supervise(CLI::App& app, Context& context);
void add_train_worker(CLI::App& app, Context& context);

}  // namespace ridgeline::app
