// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "report/renderers.hpp"
#include "report/simulated.hpp"
#include "report/utf8.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/run_answer.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/words.hpp"

namespace ridgeline::app {
namespace {

struct HistoryFlags {
  std::size_t limit = 50;
  bool ids = false;
  bool json = false;
};

base::Json json_of(const schema::RunSummary& run) {
  return {{"id", run.id},
          {"kind", run.kind},
          {"simulated", report::is_simulated(run)},
          {"started_utc", run.started_utc},
          {"subject", run.line.subject},
          {"provider", run.line.provider},
          {"device", run.line.device},
          {"objective", run.line.objective},
          {"trials", run.trials},
          {"decision", run.line.decision},
          {"answer", words().text(run.line.answer)},
          {"value", run.line.value},
          {"duration_s", run.duration_s},
          {"finished", run.finished}};
}

/// Ids are never cut: without room the kind says less; what was run and the answer share the room that is left.
report::Table table_of(const std::vector<schema::RunSummary>& runs, int width) {
  using report::Align;
  constexpr int kRoomy = 100;
  const std::string_view mark = width < kRoomy ? " (sim.)" : " (simulated)";
  constexpr int kOthers = 58;  ///< id, kind, trials, time and what is between them
  const bool marked = std::any_of(runs.begin(), runs.end(), [](const auto& run) { return report::is_simulated(run); });
  const int taken = kOthers + (marked ? static_cast<int>(mark.size()) : 0);
  const auto room = static_cast<std::size_t>(std::max(20, width - taken));
  report::Table table;
  table.columns = {{"Run", Align::left},     {"Started", Align::left, true},  {"Kind", Align::left},
                   {"What", Align::left},    {"Provider", Align::left, true}, {"Objective", Align::left, true},
                   {"Trials", Align::right}, {"Took", Align::right},          {"Answer", Align::left}};
  for (const auto& run : runs) {
    report::Table::Row row;
    row.cells = {run.id,
                 base::local_time(run.started_utc),
                 report::is_simulated(run) ? run.kind + std::string(mark) : run.kind,
                 report::shorten(report::one_line(run.line.subject), room / 2),
                 run.line.provider,
                 run.line.objective,
                 fmt::format("{}", run.trials),
                 base::format_duration(run.duration_s * 1e9),
                 report::shorten(report::one_line(answer_text(run)), room / 2)};
    if (!run.finished)
      row.tone = report::Tone::warning;
    else if (run.line.decision == "change")
      row.tone = report::Tone::good;
    table.rows.push_back(std::move(row));
  }
  return table;
}

base::Result<int> history(const HistoryFlags& flags, const Context& context) {
  RL_TRY_ASSIGN(auto store, context.open_store(store::Access::read));
  RL_TRY_ASSIGN(const auto runs, store.list_runs(flags.limit));
  if (flags.json) {
    base::Json out = base::Json::array();
    for (const auto& run : runs) out.push_back(json_of(run));
    fmt::print("{}\n", base::dump_json(out));
  } else if (flags.ids) {
    for (const auto& run : runs) fmt::print("{}\n", run.id);
  } else if (runs.empty()) {
    fmt::print("no runs yet in {}; start with: ridgeline tune model.onnx\n", context.database_path().string());
  } else {
    const auto terminal = inspect_terminal(stdout);
    fmt::print("{}", report::render_table(table_of(runs, terminal.width), terminal.width, terminal.colour));
  }
  return kOk;
}

}  // namespace

void add_history(CLI::App& app, Context& context) {
  auto flags = std::make_shared<HistoryFlags>();
  auto* command =
      add_subcommand(app, context, "history", "List the runs in the results file, newest first",
                     "  ridgeline history --limit 10", [flags, &context] { return history(*flags, context); });
  add_number(*command, "--limit", flags->limit, 1, kAnyNumber, "Maximum number of runs to list");
  command->add_flag("--ids", flags->ids, "Print only run ids, one per line");
  command->add_flag("--json", flags->json, "Print as JSON");
  add_database_option(*command, context);
}

}  // namespace ridgeline::app
