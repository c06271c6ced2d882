// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "report/renderers.hpp"
#include "report/utf8.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/terminal.hpp"
#include "store/bench_store.hpp"
#include "store/sweep_store.hpp"

namespace ridgeline::app {
namespace {

struct HistoryFlags {
  std::string limit = "50";
  bool ids = false;
  bool json = false;
};

/// One line, of whatever command made it.
struct Line {
  std::string id;
  std::string started_utc;
  std::string command;
  std::string what;
  std::string provider;
  std::string objective;
  int trials = 0;
  double duration_s = 0;
  std::string answer;
  report::Tone tone = report::Tone::neutral;
  base::Json json;
};

std::string outcome_of(const store::RunSummary& run) {
  if (!run.finished) return "not finished";
  if (run.decision == "change" && run.gain_ratio) return fmt::format("change, {:.2f}x", *run.gain_ratio);
  return run.decision.empty() || run.decision == "none" ? "no verdict" : run.decision;
}

std::string answer_text(bool finished, const std::string& recommended) {
  if (!finished) return "not finished";
  return recommended.empty() ? "no recommendation" : recommended;
}

Line line_of(const store::RunSummary& run) {
  Line line{run.id,        run.started_utc, run.command,    run.model,      run.provider,
            run.objective, run.trials,      run.duration_s, outcome_of(run)};
  if (run.decision == "change") line.tone = report::Tone::good;
  if (!run.finished) line.tone = report::Tone::warning;
  line.json = {{"id", run.id},
               {"started_utc", run.started_utc},
               {"command", run.command},
               {"model", run.model},
               {"provider", run.provider},
               {"device", run.device},
               {"objective", run.objective},
               {"trials", run.trials},
               {"decision", run.decision},
               {"gain_ratio", run.gain_ratio},
               {"duration_s", run.duration_s},
               {"finished", run.finished}};
  return line;
}

Line line_of(const store::BenchRunSummary& run) {
  Line line{run.id,     run.started_utc, "bench",
            run.job,    run.device,      "samples/s",
            run.trials, run.duration_s,  answer_text(run.finished, run.recommended)};
  if (!run.finished) line.tone = report::Tone::warning;
  line.json = {{"id", run.id},
               {"started_utc", run.started_utc},
               {"command", "bench"},
               {"job", run.job},
               {"device", run.device},
               {"trials", run.trials},
               {"recommended", run.recommended},
               {"samples_per_s", run.samples_per_s},
               {"duration_s", run.duration_s},
               {"finished", run.finished}};
  return line;
}

Line line_of(const store::SweepRunSummary& run) {
  Line line{run.id,
            run.started_utc,
            "sweep",
            run.command,
            "",
            run.objective,
            run.trials,
            run.duration_s,
            answer_text(run.finished, run.recommended)};
  if (!run.finished) line.tone = report::Tone::warning;
  line.json = {{"id", run.id},
               {"started_utc", run.started_utc},
               {"command", "sweep"},
               {"swept", run.command},
               {"objective", run.objective},
               {"trials", run.trials},
               {"recommended", run.recommended},
               {"value", run.value},
               {"duration_s", run.duration_s},
               {"finished", run.finished}};
  return line;
}

base::Result<std::vector<Line>> read_lines(const Context& context, std::size_t limit) {
  std::vector<Line> lines;
  const auto add = [&](const auto& runs) {
    for (const auto& run : runs) lines.push_back(line_of(run));
  };
  RL_TRY_ASSIGN(auto store, context.open_store(store::Access::read));
  RL_TRY_ASSIGN(const auto tuned, store.list_runs(limit));
  add(tuned);
  RL_TRY_ASSIGN(auto benches, store::BenchStore::open(context.database_path(), {.access = store::Access::read}));
  RL_TRY_ASSIGN(const auto trained, benches.list_runs(limit));
  add(trained);
  RL_TRY_ASSIGN(auto sweeps, store::SweepStore::open(context.database_path(), {.access = store::Access::read}));
  RL_TRY_ASSIGN(const auto swept, sweeps.list_runs(limit));
  add(swept);
  // Each kind comes with its last saved first, which runs of one second keep.
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.started_utc > b.started_utc; });
  if (lines.size() > limit) lines.resize(limit);
  return lines;
}

/// Ids are never cut; what was run and the answer share the room that is left.
report::Table table_of(const std::vector<Line>& lines, int width) {
  using report::Align;
  constexpr int kOthers = 58;  ///< id, command, trials, time and what is between them
  const auto room = static_cast<std::size_t>(std::max(20, width - kOthers));
  report::Table table;
  table.columns = {{"Run", Align::left},
                   {"Started (UTC)", Align::left, true},
                   {"Command", Align::left},
                   {"What", Align::left},
                   {"Provider", Align::left, true},
                   {"Objective", Align::left, true},
                   {"Trials", Align::right},
                   {"Took", Align::right},
                   {"Answer", Align::left}};
  for (const auto& line : lines) {
    report::Table::Row row;
    row.cells = {line.id,
                 line.started_utc,
                 line.command,
                 report::shorten(report::one_line(line.what), room / 2),
                 line.provider,
                 line.objective,
                 fmt::format("{}", line.trials),
                 base::format_duration(line.duration_s * 1e9),
                 report::shorten(report::one_line(line.answer), room / 2)};
    row.tone = line.tone;
    table.rows.push_back(std::move(row));
  }
  return table;
}

base::Result<int> history(const HistoryFlags& flags, const Context& context) {
  const auto limit = base::parse_integer(flags.limit, "--limit");
  if (!limit || *limit < 1)
    return base::fail(base::ErrorCode::invalid_argument, "--limit {}: expected a whole number above 0", flags.limit);
  RL_TRY_ASSIGN(const auto lines, read_lines(context, static_cast<std::size_t>(*limit)));
  if (flags.json) {
    base::Json out = base::Json::array();
    for (const auto& line : lines) out.push_back(line.json);
    fmt::print("{}\n", base::dump_json(out));
  } else if (flags.ids) {
    for (const auto& line : lines) fmt::print("{}\n", line.id);
  } else if (lines.empty()) {
    fmt::print("no runs yet in {}; start with: ridgeline tune model.onnx\n", context.database_path().string());
  } else {
    const auto terminal = inspect_terminal(stdout);
    fmt::print("{}", report::render_table(table_of(lines, terminal.width), terminal.width, terminal.colour));
  }
  return kOk;
}

}  // namespace

void add_history(CLI::App& app, Context& context) {
  auto flags = std::make_shared<HistoryFlags>();
  auto* command =
      add_subcommand(app, context, "history", "List the runs in the results file, newest first",
                     "  ridgeline history --limit 10", [flags, &context] { return history(*flags, context); });
  command->add_option("--limit", flags->limit, "Runs shown")->type_name("N")->capture_default_str();
  command->add_flag("--ids", flags->ids, "Run ids only, one a line");
  command->add_flag("--json", flags->json, "As JSON");
  add_database_option(*command, context);
}

}  // namespace ridgeline::app
