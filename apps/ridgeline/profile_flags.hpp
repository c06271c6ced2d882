// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "report/profile/module_table.hpp"
#include "ridgeline/report_flags.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// How a profile is shown and where it is written; of `profile` and `profile import` alike.
struct ProfileFlags {
  /// What CLI11 has for a flag without a value.
  static constexpr const char* kJsonToOutput = "true";

  int depth = 0;
  std::string sort = "time";
  std::string kernel;  ///< one kernel in detail
  ReportFlags report;
  std::string csv;       ///< folder
  std::string perfetto;  ///< file
  std::string chrome;    ///< file
  bool no_keep_trace = false;
  std::string json_to;  ///< kJsonToOutput, a file, or "": not asked for
  bool quiet = false;

  /// JSON alone on standard output.
  [[nodiscard]] bool prints_json() const noexcept { return json_to == kJsonToOutput; }
  /// "": none.
  [[nodiscard]] std::string json_file() const { return prints_json() ? "" : json_to; }
  [[nodiscard]] report::ModuleView view() const;
  /// How modules are to be listed was asked for.
  [[nodiscard]] bool shows_modules() const noexcept { return depth > 0 || sort != "time"; }
  /// Beside the results file; "" where events are not to be kept.
  [[nodiscard]] std::string trace_folder(const Context& context) const;
  /// What would be written, as far as it is there: of an earlier run, until it is written.
  [[nodiscard]] std::vector<std::string> existing_files() const;
  [[nodiscard]] bool talks() const noexcept { return !prints_json() && !quiet; }
};

void add_profile_flags(CLI::App& command, Context& context, ProfileFlags& flags);

/// Before anything is read. Errors: a report that has no file name, and whatever cannot be written
/// where it is to go.
[[nodiscard]] base::Result<void> check_profile_flags(const ProfileFlags& flags);

}  // namespace ridgeline::app
