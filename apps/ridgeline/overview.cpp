// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/overview.hpp"

#include <array>
#include <optional>
#include <utility>

#include "report/utf8.hpp"
#include "ridgeline/help_text.hpp"
#include "ridgeline/run_answer.hpp"

namespace ridgeline::app {
namespace {

using NextCommands = std::array<std::pair<std::string, std::string>, 3>;

/// nullopt if there is no results file yet, or no run in it. Errors: those of a file that cannot be read.
base::Result<std::optional<schema::RunSummary>> newest_run(const Context& context) {
  std::error_code ignored;
  if (!std::filesystem::exists(context.database_path(), ignored)) return std::nullopt;
  RL_TRY_ASSIGN(auto store, context.open_existing_store());
  RL_TRY_ASSIGN(auto runs, store.list_runs(1));
  if (runs.empty()) return std::nullopt;
  return std::move(runs.front());
}

NextCommands first_commands() {
  return {{{"ridgeline doctor", "is this machine ready?"},
           {"ridgeline tune model.onnx", "the fastest settings of a model"},
           {"ridgeline tune synthetic:surface=conv --quick", "try it without a model"}}};
}

NextCommands commands_after(const schema::RunSummary& run) {
  const bool applies = run.line.decision == "change" && run.kind != "stream" && run.kind != "profile";
  return {{{"ridgeline show", "what the newest run found"},
           applies ? std::pair<std::string, std::string>{"ridgeline apply latest --config config.yaml",
                                                         "write its recommendation"}
                   : std::pair<std::string, std::string>{"ridgeline report latest --report report.html",
                                                         "its report as a page"},
           {"ridgeline history", "all runs"}}};
}

}  // namespace

std::string overview_text(const CLI::App& cli, const Context& context, int width) {
  const auto found = newest_run(context);
  const auto run = found ? *found : std::nullopt;
  std::string out;
  if (!found) out += base::error_line(found.error()) + "\n\n";
  if (run)
    out += report::shorten(report::one_line(fmt::format("Newest run: {}, {} of {}: {}", run->id, run->kind,
                                                        run->line.subject, answer_text(*run))),
                           static_cast<std::size_t>(width)) +
           "\n\n";
  const auto next = run ? commands_after(*run) : first_commands();
  std::size_t longest = 0;
  for (const auto& [command, what] : next) longest = std::max(longest, command.size());
  for (const auto& [command, what] : next) out += fmt::format("  {:<{}}  {}\n", command, longest, what);
  return out + "\n" + help_text(cli, context, HelpLevel::brief, width);
}

}  // namespace ridgeline::app
