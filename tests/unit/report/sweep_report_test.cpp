// SPDX-License-Identifier: Apache-2.0
#include "report/sweep_report.hpp"
#include "fakes/words.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "analysis/sweep_answers.hpp"
#include "execute/messages.hpp"
#include "fakes/words.hpp"
#include "report/renderers.hpp"
#include "report/sweep_table.hpp"

namespace ridgeline::report {
namespace {

schema::SweepRun run_of(const std::vector<std::pair<std::string, double>>& trials) {
  schema::SweepRun run;
  run.id = "20261121-100000-aaaa";
  run.request.job.command = {"python", "train.py", "{n}"};
  run.request.job.parameters = {{"n", {"1", "2"}}};
  run.request.job.metrics = {{"loss", schema::SweepSource::json, "loss", schema::SweepTake::last}};
  run.space_size = 2;
  for (const auto& [value, seconds] : trials) {
    schema::SweepTrial trial;
    trial.id = static_cast<int>(run.trials.size()) + 1;
    trial.point = {{"n", value}};
    trial.repeat = static_cast<int>(std::count_if(run.trials.begin(), run.trials.end(),
                                                  [&](const auto& other) { return other.point == trial.point; }));
    trial.outcome.metrics = {{"seconds", seconds}, {"loss", 0.25}, {"cpu_percent", 98.7}};
    run.trials.push_back(trial);
  }
  run.points = analysis::summarize_sweep(run);
  run.answers = analysis::answer_sweep(run, run.points);
  return run;
}

std::string summary_of(const schema::SweepRun& run) {
  std::string out;
  for (const auto& [label, text] : sweep_summary(fakes::words(), run)) out += label + ": " + text + "\n";
  return out;
}

TEST(SweepTable, writes_numbers_for_people) {
  EXPECT_EQ(sweep_number(25509.4), "25509");
  EXPECT_EQ(sweep_number(345.678), "345.7");
  EXPECT_EQ(sweep_number(12.3456), "12.35");
  EXPECT_EQ(sweep_number(0.12345), "0.1235");
  EXPECT_EQ(sweep_number(1e-5), "1e-05");
  EXPECT_EQ(sweep_number(0), "0.000");
  EXPECT_EQ(sweep_estimate({10, 9, 11}), "10.00 ±1");
  EXPECT_EQ(sweep_estimate({25509, 22669, 28349}), "25509 ±2840");
  EXPECT_EQ(sweep_estimate({10, 10, 10}), "10.00");
}

TEST(SweepTable, has_a_cell_for_each_column) {
  auto run = run_of({{"1", 2}, {"2", 1}});
  for (const auto* device : {"cpu:x/2", "gpu:GPU-1"}) {
    run.device_id = device;
    const auto columns = sweep_columns(run);
    EXPECT_EQ(sweep_row(fakes::words(), run, run.trials.front()).cells.size(), columns.size());
    EXPECT_EQ(sweep_widths(run).size(), columns.size());
    const auto table = sweep_points_table(run);
    for (const auto& row : table.rows) EXPECT_EQ(row.cells.size(), table.columns.size());
    const bool gpu =
        std::any_of(columns.begin(), columns.end(), [](const auto& column) { return column.title == "GPU%"; });
    EXPECT_EQ(gpu, run.device_id == "gpu:GPU-1");
  }
}

TEST(SweepTable, says_why_a_trial_failed) {
  schema::SweepTrial trial;
  trial.outcome.status = schema::TrialStatus::failed;
  trial.outcome.failure = schema::Failure{};
  trial.outcome.failure->message = fakes::legacy("exit code 2: no\nsuch flag");
  EXPECT_EQ(sweep_status(fakes::words(), trial), "failed: exit code 2: no such flag");
  trial.outcome.status = schema::TrialStatus::out_of_memory;
  trial.cached = true;
  EXPECT_EQ(sweep_status(fakes::words(), trial), "OOM, cached: exit code 2: no such flag");
  trial.outcome = {};
  trial.outcome.notes = {execute::messages::left_behind(1)};
  EXPECT_EQ(sweep_status(fakes::words(), trial), "ok, cached, 1 process was left behind and stopped");
}

TEST(SweepReport, names_answer_gain_and_ties) {
  const auto summary = summary_of(run_of({{"1", 2}, {"2", 1}, {"2", 1.01}, {"1", 2.01}, {"1", 2.02}, {"2", 1}}));
  EXPECT_NE(summary.find("Recommended: n=2: 1.003"), std::string::npos) << summary;
  EXPECT_NE(summary.find("Gain: 2.00× as good as the first combination"), std::string::npos) << summary;
  EXPECT_EQ(summary.find("Ties"), std::string::npos) << summary;
  const auto tied = summary_of(run_of({{"1", 1}, {"2", 1}, {"2", 1.01}, {"1", 1.01}}));
  EXPECT_NE(tied.find("Ties: cannot be distinguished from the best: n="), std::string::npos) << tied;
}

TEST(SweepReport, notices_a_cold_start) {
  EXPECT_NE(summary_of(run_of({{"1", 3}, {"2", 1}, {"2", 1}, {"1", 2}, {"1", 2.1}, {"2", 1}})).find("--warmup 1"),
            std::string::npos);
  EXPECT_EQ(summary_of(run_of({{"1", 2}, {"2", 1}, {"2", 1}, {"1", 2}, {"1", 2.1}, {"2", 1}})).find("--warmup 1"),
            std::string::npos);
}

TEST(SweepReport, foreign_text_cannot_break_out) {
  auto run = run_of({{"1", 2}, {"2", 1}});
  run.request.job.command = {"sh", "-c", "echo '<script>alert(1)</script>' | `x` **y**\n# {n}"};
  run.trials.front().outcome.status = schema::TrialStatus::failed;
  run.trials.front().outcome.failure = schema::Failure{};
  run.trials.front().outcome.failure->message = fakes::legacy("| <b>bold</b> |");
  run.trials.front().outcome.failure->stderr_tail = "```\n<script>\x1b[31m";
  run.points = analysis::summarize_sweep(run);
  const auto model = build_sweep_report(fakes::words(), run);
  const auto html = render_html(model, "");
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("<b>bold"), std::string::npos);
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  const auto markdown = render_markdown(model);
  EXPECT_EQ(markdown.find("\n# {n}"), std::string::npos);
  EXPECT_EQ(markdown.find('\x1b'), std::string::npos);
}

TEST(SweepReport, json_says_how_answers_follow) {
  const auto json = sweep_json(fakes::words(), run_of({{"1", 2}, {"2", 1}}));
  for (const auto* name : {"cost", "objective", "behind", "tie", "recommended"})
    EXPECT_TRUE(json["formulas"].contains(name));
  EXPECT_EQ(json["answers"]["best"]["n"], "2");
}

}  // namespace
}  // namespace ridgeline::report
