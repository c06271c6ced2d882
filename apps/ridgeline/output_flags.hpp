// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/report_model.hpp"
#include "ridgeline/report_flags.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/write_flags.hpp"

namespace ridgeline::app {

/// What `tune`, `bench` and `sweep` do with a run that is done: the same flags with the same meaning.
struct OutputFlags {
  WriteFlags write;
  ReportFlags report;
  std::string show;  ///< a run to show again instead of measuring
  bool json = false;
  bool quiet = false;

  /// Words for people go to standard output.
  [[nodiscard]] bool talks() const noexcept { return !json && !quiet; }
  /// Whether the user's file is changed, shown or asked about once the run is done. With --json nobody is asked.
  [[nodiscard]] bool touches_file() const;
};

/// Adds all of these but --show under "Output", as later options of the command.
void add_output_flags(CLI::App& command, Context& context, OutputFlags& flags, const std::string& config_help,
                      ApplySpelling spelling, const std::string& quiet_help = "Print only errors");
void add_show_flag(CLI::App& command, OutputFlags& flags);

/// Before anything is measured. Errors: a report that has no file name, or cannot be written there.
[[nodiscard]] base::Result<void> check_outputs(const OutputFlags& flags);

inline constexpr int kLabelWidth = 9;  // of the words before a line's text

/// Writes the reports, and prints their names.
[[nodiscard]] base::Result<void> write_outputs(const report::ReportModel& model, const std::vector<ReportFile>& files,
                                               const OutputFlags& flags, int label_width = kLabelWidth);
/// "run   ID  (ridgeline show ID)".
void print_run_id(const std::string& id, const OutputFlags& flags, int label_width = kLabelWidth);
/// Labels, each with its wrapped text.
void print_summary(const std::vector<std::pair<std::string, std::string>>& lines, const Terminal& terminal,
                   int label_width);

/// The exit code of a run that has or lacks an answer.
template <typename Run>
[[nodiscard]] int exit_code(const Run& run) {
  return run.interrupted ? kCancelled : run.answers ? kOk : kFinding;
}

}  // namespace ridgeline::app
