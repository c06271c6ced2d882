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
  int depth = 0;
  std::string sort = "time";
  std::string kernel;  ///< one kernel in detail
  ReportFlags report;
  std::string csv;       ///< folder
  std::string perfetto;  ///< file
  std::string chrome;    ///< file
  bool no_keep_trace = false;
  bool json = false;
  bool quiet = false;

  [[nodiscard]] report::ModuleView view() const;
  /// How modules are to be listed was asked for.
  [[nodiscard]] bool shows_modules() const noexcept { return depth > 0 || sort != "time"; }
  /// Beside the results file; "" where events are not to be kept.
  [[nodiscard]] std::string trace_folder(const Context& context) const;
  [[nodiscard]] bool talks() const noexcept { return !json && !quiet; }
};

void add_profile_flags(CLI::App& command, Context& context, ProfileFlags& flags);

/// Before anything is read. Errors: a report that has no file name or cannot be written there, a folder that is a file.
[[nodiscard]] base::Result<void> check_profile_flags(const ProfileFlags& flags);

}  // namespace ridgeline::app
