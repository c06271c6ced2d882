// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "campaign/sweep_kind.hpp"
#include "execute/supervisor.hpp"
#include "report/renderers.hpp"
#include "report/sweep_report.hpp"
#include "report/sweep_table.hpp"
#include "ridgeline/apply_changes.hpp"
#include "ridgeline/report_files.hpp"
#include "ridgeline/results_file.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/sweep_display.hpp"
#include "ridgeline/sweep_flags.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/worker_options.hpp"

namespace ridgeline::app {
namespace {

using base::Result;

Result<void> write_outputs(const schema::SweepRun& run, const SweepFlags& flags) {
  const auto html = flags.html == "auto" ? html_beside(flags.output) : flags.html;
  if (flags.output.empty() && html.empty()) return {};
  RL_TRY(write_reports(report::build_sweep_report(run), flags.output, html));
  if (flags.json || flags.quiet) return {};
  if (!flags.output.empty()) fmt::print("report       {}\n", flags.output);
  if (!html.empty()) fmt::print("report       {}\n", html);
  return {};
}

Result<void> apply_answer(const schema::SweepRun& run, const SweepFlags& flags, const Terminal& terminal) {
  const auto& file = flags.write.file();
  ApplyRequest request;
  request.file = file;
  request.mode = flags.write.mode();
  request.quiet = flags.json || flags.quiet;
  if (!run.answers) {
    if (!request.quiet) fmt::print("{}: not touched, there is nothing to recommend\n", file);
    return {};
  }
  RL_TRY_ASSIGN(const auto paths, read_apply_to(flags.apply_to));
  RL_TRY_ASSIGN(const auto text, read_apply_file(file, !flags.write.writes(), kNoSweepFile));
  const auto change = campaign::sweep_change(run, text, file, paths);
  if (!change && request.mode == ApplyMode::ask) {
    if (!request.quiet) fmt::print("not applied: {}\n", base::error_line(change.error()));
    return {};
  }
  if (!change) return tl::unexpected<base::Error>(change.error());
  RL_TRY(apply_known(*change, request, text, fmt::format("ridgeline apply {} --config {}", run.id, file), terminal));
  if (request.quiet)
    for (const auto& line : change->after) fmt::print(stderr, "{}\n", line);
  return {};
}

void print_summary(const schema::SweepRun& run, const Terminal& terminal) {
  constexpr int kLabel = 13;
  if (!run.points.empty())
    fmt::print("\n{}\n", report::render_table(report::sweep_points_table(run), terminal.width, terminal.colour));
  for (const auto& [label, text] : report::sweep_summary(run)) {
    std::string indented;
    for (const char c : wrapped(text, terminal.width - kLabel, 0))
      indented += c == '\n' ? "\n" + std::string(kLabel, ' ') : std::string(1, c);
    fmt::print("{:<{}}{}\n", label, kLabel, indented);
  }
  if (!run.answers)
    fmt::print("{}\n", run.interruption.empty() ? "no answer: no combination went well; the table says why"
                                                : "no answer: the run ended before a combination went well");
  if (!run.interruption.empty()) fmt::print("ended early: {}\n", run.interruption);
}

Result<int> finish(const schema::SweepRun& run, const SweepFlags& flags, const Terminal& terminal) {
  if (flags.json)
    fmt::print("{}\n", base::dump_json(report::sweep_json(run)));
  else if (!flags.quiet)
    print_summary(run, terminal);
  RL_TRY(write_outputs(run, flags));
  const bool may_write = flags.write.concerns_file() || (!flags.json && !flags.write.no_apply);
  if (!flags.write.file().empty() && may_write && !run.interrupted) RL_TRY(apply_answer(run, flags, terminal));
  if (!flags.json && !flags.quiet) fmt::print("run          {}  (ridgeline show {})\n", run.id, run.id);
  if (run.interrupted) return kCancelled;
  return run.answers ? kOk : kFinding;
}

Result<int> show(const SweepFlags& flags, const Context& context, const Terminal& terminal) {
  RL_TRY(check_write_flags(flags.write));
  RL_TRY_ASSIGN(const auto file, existing_results(context));
  RL_TRY_ASSIGN(auto store, store::Store::open(file, {.access = store::Access::read}));
  RL_TRY_ASSIGN(const auto stored, store.load_run(flags.show, schema::SweepRun::kLayout.kind));
  RL_TRY_ASSIGN(const auto run, campaign::sweep_so_far(stored));
  SweepDisplay display(terminal, Terminal{}, !flags.json && !flags.quiet);
  display.started(run);
  for (const auto& trial : run.trials) display.trial_finished(run, trial);
  return finish(run, flags, terminal);
}

/// What stands behind "--".
std::vector<std::string> command_of(const Context& context) {
  const auto& words = context.arguments;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  return dashes == words.end() ? std::vector<std::string>() : std::vector<std::string>(dashes + 1, words.end());
}

Result<int> sweep(const SweepFlags& flags, const Context& context) {
  const auto terminal = inspect_terminal(stdout);
  RL_TRY(check_writable(flags.output, "--output"));
  RL_TRY(check_writable(flags.html == "auto" ? "" : flags.html, "--report-html"));
  if (!flags.show.empty()) return show(flags, context, terminal);
  RL_TRY_ASSIGN(const auto plan, read_sweep_flags(flags, context));
  if (!flags.json && !flags.quiet)
    for (const auto& line : plan.notes) fmt::print("current    {}\n", line);
  RL_TRY_ASSIGN(auto store, context.open_store());
  auto err = inspect_terminal(stderr);
  if (flags.quiet) err.interactive = false;
  SweepDisplay display(terminal, err, !flags.json && !flags.quiet);
  auto options = sweep_executor_options();
  options.gpu_uuids = plan.gpu_uuids;
  options.on_progress = [&](const execute::CommandProgress& now) { display.progress(now); };
  const auto executor = execute::make_sweep_executor(std::move(options));
  campaign::SweepCampaign campaign(*executor, store, display, &base::cancel_requested);
  RL_TRY_ASSIGN(const auto run, campaign.run(plan.request));
  return finish(run, flags, terminal);
}

void add_what_runs(CLI::App& sweep, SweepFlags& flags) {
  const std::string group = "What is run";
  sweep.add_option("COMMAND", flags.stray, "Behind --: the command; {name} stands for a parameter's value")
      ->type_name("");
  sweep.add_option("--param", flags.params, "A parameter and its values, the one you use now first; repeatable")
      ->type_name("NAME=VALUE,...")
      ->allow_extra_args(false);
  sweep.add_option("--env", flags.environment, "An environment variable, which may have placeholders; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  sweep.add_option("--timeout", flags.timeout, "Time for one trial, for example 10m")->type_name("TIME");
  sweep
      .add_option("--depends", flags.depends,
                  "A file that stored results depend on, besides those in the command; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  sweep.add_option("--devices", flags.devices, "GPUs watched: all, or numbers (default: the first)")->type_name("GPUS");
  for (const auto* name : {"--param", "--env", "--timeout", "--depends", "--devices"})
    sweep.get_option(name)->group(group);
}

void add_what_counts(CLI::App& sweep, Context& context, SweepFlags& flags) {
  const std::string group = "What is measured";
  sweep
      .add_option("--metric", flags.metrics,
                  "A number in the output: NAME=REGEX or NAME=json:KEY; the last one counts, or with median:, mean:, "
                  "min:, max:, first: or sum: before it that one; repeatable")
      ->type_name("NAME=WHERE")
      ->allow_extra_args(false);
  sweep
      .add_option("--metric-file", flags.metric_file,
                  "A file with lines \"name value\" that the command writes (default: $RIDGELINE_METRICS_FILE)")
      ->type_name("FILE");
  sweep.add_option("--objective", flags.objective, "max:METRIC or min:METRIC (default: min:seconds)")
      ->type_name("WAY:METRIC");
  sweep.add_option("--repeat", flags.repeat, "Rounds, interleaved")->type_name("N")->capture_default_str();
  sweep.add_option("--warmup", flags.warmup, "Trials before the first round that do not count")
      ->type_name("N")
      ->capture_default_str();
  sweep.add_option("--min-effect", flags.min_effect, "Differences below it count as ties")
      ->type_name("SHARE")
      ->capture_default_str();
  sweep.add_option("--tolerance", flags.tolerance, "What the recommendation may give up for values that stand earlier")
      ->type_name("SHARE")
      ->capture_default_str();
  add_choice(sweep, context, "--search", flags.search, {"grid", "adaptive", "random"}, "Search strategy");
  sweep.add_option("--trials", flags.trials, "Combinations that --search random tries")
      ->type_name("N")
      ->capture_default_str();
  sweep.add_option("--seed", flags.seed, "Of --search random and adaptive")->type_name("N")->capture_default_str();
  sweep.add_option("--max-time", flags.max_time, "Time for the whole run, for example 2h")->type_name("TIME");
  sweep.add_flag("--keep-going", flags.keep_going, "Also when the first three trials fail alike");
  sweep.add_flag("--fresh", flags.fresh, "Measure again what the results file already knows");
  for (const auto* name : {"--metric", "--metric-file", "--objective", "--repeat", "--warmup", "--min-effect",
                           "--tolerance", "--search", "--trials", "--seed", "--max-time", "--keep-going", "--fresh"})
    sweep.get_option(name)->group(group);
}

void add_what_is_written(CLI::App& sweep, Context& context, SweepFlags& flags) {
  const std::string group = "What is written";
  add_write_flags(sweep, flags.write, "A YAML file that holds the parameters: its values are the current ones",
                  ApplySpelling::flag_or_file, group);
  sweep
      .add_option("--apply-to", flags.apply_to,
                  "Where a parameter stands in --config, when under another name; repeatable")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  sweep.add_option("--output", flags.output, "Markdown report")->type_name("REPORT.md");
  sweep.add_option("--report-html", flags.html, "HTML report (without a file name: beside --output)")
      ->type_name("FILE")
      ->expected(0, 1)
      ->default_str("auto");
  sweep.add_option("--trials-dir", flags.folder, "Where outputs are kept (default: sweeps beside the results file)")
      ->type_name("FOLDER");
  sweep.add_flag("--json", flags.json, "The run as JSON on standard output");
  sweep.add_option("--show", flags.show, "Show a stored run again (latest, or its id) instead of measuring")
      ->type_name("RUN");
  add_database_option(sweep, context);
  sweep.add_flag("-q,--quiet", flags.quiet, "Errors only");
  add_options_file(sweep, context);
  for (const auto* name :
       {"--apply-to", "--output", "--report-html", "--trials-dir", "--json", "--show", "--db", "--options", "--quiet"})
    sweep.get_option(name)->group(group);
}

}  // namespace

void add_sweep(CLI::App& app, Context& context) {
  auto flags = std::make_shared<SweepFlags>();
  auto* command = add_subcommand(
      app, context, "sweep", "Run any command over combinations of its parameters and find the best one",
      "  ridgeline sweep --param batch=64,128,256 --param workers=4,8 --metric 'samples_per_s=([0-9.]+) samples/s' \\\n"
      "    --objective max:samples_per_s -- python train.py --bs {batch} --workers {workers}\n"
      "  ridgeline sweep --param threads=1,2,4 --env OMP_NUM_THREADS={threads} -- ./solve input.dat   (shortest time)\n"
      "\nExit code 1: no combination went well.",
      [flags, &context] {
        flags->command = command_of(context);
        return sweep(*flags, context);
      });
  add_what_runs(*command, *flags);
  add_what_counts(*command, context, *flags);
  add_what_is_written(*command, context, *flags);
}

void add_supervise(CLI::App& app, Context& context) {
  auto* command =
      add_subcommand(app, context, "supervise", "Runs one command for a sweep", "", [&context]() -> Result<int> {
        const auto words = command_of(context);
        if (words.empty())
          return base::fail(base::ErrorCode::invalid_argument, "no command behind --")
              .hint("add one, for example: -- python train.py --bs {{batch}}");
        return execute::supervise(words);
      });
  command->group("");  // hidden: started by ridgeline itself
}

}  // namespace ridgeline::app
