// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/text.hpp"
#include "report/renderers.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/terminal.hpp"

namespace ridgeline::app {
namespace {

struct Flags {
  std::string limit = "50";
  bool ids = false;
  bool json = false;
};

std::string outcome_of(const store::RunSummary& run) {
  if (!run.finished) return "not finished";
  if (run.decision == "change" && run.gain_ratio) return fmt::format("change, {:.2f}x", *run.gain_ratio);
  return run.decision.empty() ? "none" : run.decision;
}

report::Table table_of(const std::vector<store::RunSummary>& runs) {
  report::Table table;
  table.columns = {{"Run", report::Align::left},      {"Started (UTC)", report::Align::left}, {"Model", report::Align::left},
                   {"Provider", report::Align::left}, {"Objective", report::Align::left},     {"Trials", report::Align::right},
                   {"Took", report::Align::right},    {"Answer", report::Align::left}};
  for (const auto& run : runs) {
    report::Table::Row row;
    row.cells = {run.id, run.started_utc, run.model, run.provider, run.objective, fmt::format("{}", run.trials),
                 base::format_duration(run.duration_s * 1e9), outcome_of(run)};
    if (run.decision == "change") row.tone = report::Tone::good;
    if (!run.finished) row.tone = report::Tone::warning;
    table.rows.push_back(std::move(row));
  }
  return table;
}

base::Json json_of(const store::RunSummary& run) {
  return {{"id", run.id}, {"started_utc", run.started_utc}, {"command", run.command}, {"model", run.model},
          {"provider", run.provider}, {"device", run.device}, {"objective", run.objective}, {"trials", run.trials},
          {"decision", run.decision}, {"gain_ratio", run.gain_ratio}, {"duration_s", run.duration_s}, {"finished", run.finished}};
}

base::Result<int> history(const Flags& flags, const Context& context) {
  const auto limit = base::parse_integer(flags.limit, "--limit");
  if (!limit || *limit < 1)
    return base::fail(base::ErrorCode::invalid_argument, "--limit {}: expected a whole number above 0", flags.limit);
  RL_TRY_ASSIGN(auto store, context.open_store());
  RL_TRY_ASSIGN(const auto runs, store.list_runs(static_cast<std::size_t>(*limit)));
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
    fmt::print("{}", report::render_table(table_of(runs), terminal.width, terminal.colour));
  }
  return kOk;
}

}  // namespace

void add_history(CLI::App& app, Context& context) {
  auto flags = std::make_shared<Flags>();
  auto* command = add_subcommand(app, context, "history", "List the runs in the results file, newest first",
                                 "  ridgeline history --limit 10", [flags, &context] { return history(*flags, context); });
  command->add_option("--limit", flags->limit, "Runs shown")->type_name("N")->capture_default_str();
  command->add_flag("--ids", flags->ids, "Run ids only, one a line");
  command->add_flag("--json", flags->json, "As JSON");
  add_database_option(*command, context);
}

}  // namespace ridgeline::app
