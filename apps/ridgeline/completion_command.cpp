// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "report/inline_text.hpp"
#include "report/utf8.hpp"
#include "ridgeline/completion_script.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {
namespace {

constexpr std::size_t kOfferedRuns = 20;
constexpr std::size_t kLongestSubject = 60;
constexpr std::chrono::milliseconds kPatience{20};  // with another process's lock

/// For a shell that completes a word: a line for each name of a run, a tab and what it is. Without a results file, or
/// with one that cannot be read at once, "latest" alone: nobody wants to wait, or an error, in the middle of a line.
void print_runs(const Context& context) {
  fmt::print("latest\tthe newest run\n");
  const auto file = context.database_path();
  if (std::error_code ignored; !std::filesystem::exists(file, ignored)) return;
  auto store = store::Store::open(file, {.busy_timeout = kPatience, .access = store::Access::peek});
  if (!store) return;
  const auto runs = store->list_runs(kOfferedRuns);
  if (!runs) return;
  std::vector<std::string> kinds;
  for (const auto& run : *runs)
    if (std::find(kinds.begin(), kinds.end(), run.kind) == kinds.end()) kinds.push_back(run.kind);
  for (const auto& kind : kinds) fmt::print("latest:{0}\tthe newest {0} run\n", kind);
  for (const auto& run : *runs)
    fmt::print("{}\t{} of {}\n", run.id, run.kind,
               report::shorten(report::one_line(run.line.subject), kLongestSubject));
}

}  // namespace

void add_completion(CLI::App& app, Context& context) {
  auto shell = std::make_shared<std::string>();
  auto* command = add_subcommand(app, context, "completion", "Print a completion script for bash, zsh or fish",
                                 "  source <(ridgeline completion bash)\n"
                                 "  ridgeline completion zsh > ~/.zfunc/_ridgeline\n"
                                 "  ridgeline completion fish > ~/.config/fish/completions/ridgeline.fish",
                                 [shell, &app, &context]() -> base::Result<int> {
                                   fmt::print("{}", *shell == "bash"  ? bash_completion(app, context)
                                                    : *shell == "zsh" ? zsh_completion(app, context)
                                                                      : fish_completion(app, context));
                                   return kOk;
                                 });
  add_choice(*command, context, "SHELL", *shell, {"bash", "zsh", "fish"}, "Shell that will read the script");
  command->get_option("SHELL")->required();
}

void add_complete_runs(CLI::App& app, Context& context) {
  auto* command = add_subcommand(app, context, "complete-runs", "Prints names of runs for a shell's completion", "",
                                 [&context]() -> base::Result<int> {
                                   print_runs(context);
                                   return kOk;
                                 });
  add_database_option(*command, context);
  command->group("");  // hidden: completion scripts call it
}

}  // namespace ridgeline::app
