// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/sweep_display.hpp"
#include "ridgeline/words.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/sweep_table.hpp"
#include "report/utf8.hpp"
#include "ridgeline/words.hpp"

namespace ridgeline::app {
namespace {

constexpr std::size_t kTailLines = 5;
constexpr int kTailIndent = 6;

}  // namespace

void SweepDisplay::started(const schema::SweepRun& run) {
  parameters_ = run.request.job.parameters;
  if (!rows_.prints()) return;
  fmt::print("command    {}\n", report::one_line(fmt::format("{}", fmt::join(run.request.job.command, " "))));
  fmt::print("objective  {}\n", run.request.objective.to_text());
  fmt::print("search     {}: {:g} combination{}, {} round{}\n", run.request.search, run.space_size,
             run.space_size == 1 ? "" : "s", run.request.repeats, run.request.repeats == 1 ? "" : "s");
  fmt::print("outputs    {}\n\n", run.folder);
  std::vector<std::string> titles;
  const auto columns = report::sweep_columns(run);
  for (const auto& column : columns) titles.push_back(column.title);
  rows_.header(report::sweep_line(titles, columns, report::sweep_widths(run)));
}

void SweepDisplay::trial_started(const schema::SweepTrial& trial, std::size_t remaining) {
  doing_ = fmt::format("#{} {}; about {} to go", trial.id, schema::point_text(trial.point, parameters_), remaining);
  rows_.status(doing_);
}

void SweepDisplay::trial_finished(const schema::SweepRun& run, const schema::SweepTrial& trial) {
  rows_.status("");
  if (!rows_.prints()) return;
  const auto row = report::sweep_row(words(), run, trial);
  rows_.row(report::sweep_line(row.cells, report::sweep_columns(run), report::sweep_widths(run)), row.tone);
  print_failure(trial);
  std::fflush(stdout);
}

/// What the command said last, once for failures that are alike.
void SweepDisplay::print_failure(const schema::SweepTrial& trial) {
  const auto& failure = trial.outcome.failure;
  if (!failure || failure->message == last_failure_) return;
  last_failure_ = failure->message;
  auto lines = base::split(base::trim(failure->stderr_tail), '\n');
  if (lines.size() > kTailLines) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kTailLines));
  for (const auto& text : lines)
    if (!base::trim(text).empty())
      fmt::print("{}\n", styled("      | " + report::shorten(report::one_line(text), 200), Style::dim, rows_.colour()));
  if (!trial.outcome.folder.empty())
    fmt::print("      {}\n", styled(wrapped(fmt::format("whole output: {}/output.log", trial.outcome.folder),
                                            rows_.width() - kTailIndent, kTailIndent),
                                    Style::dim, rows_.colour()));
}

void SweepDisplay::progress(const execute::JobProgress& now) {
  auto text = fmt::format("{}; {:.0f} s, {}, {} process{}", doing_, now.elapsed_s,
                          base::format_bytes(static_cast<double>(now.rss_bytes)), now.processes,
                          now.processes == 1 ? "" : "es");
  if (now.gpu_busy) text += fmt::format(", GPU {:.0f} %", *now.gpu_busy * 100);
  rows_.status(text);
}

}  // namespace ridgeline::app
