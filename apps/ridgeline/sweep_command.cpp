// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "campaign/sweep/sweep_kind.hpp"
#include "execute/supervisor.hpp"
#include "report/renderers.hpp"
#include "report/sweep_report.hpp"
#include "report/sweep_table.hpp"
#include "ridgeline/apply_changes.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/report_files.hpp"
#include "ridgeline/section_text.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/sweep_display.hpp"
#include "ridgeline/sweep_flags.hpp"
#include "ridgeline/words.hpp"
#include "ridgeline/worker_options.hpp"

namespace ridgeline::app {
namespace {

constexpr std::int64_t kMostRounds = 1000;

using base::Result;

constexpr int kSweepLabel = 13;  // columns

Result<void> apply_answer(const schema::SweepRun& run, const SweepFlags& flags, const Terminal& terminal) {
  const auto& file = flags.write.file();
  ApplyRequest request;
  request.file = file;
  request.mode = flags.write.mode();
  request.quiet = !flags.talks();
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

report::ReportModel shown_answer(const schema::SweepRun& run, const SweepFlags& flags, const Terminal& terminal) {
  auto report = report::build_sweep_report(words(), run);
  const bool writes = flags.touches_file() && !run.interrupted && run.answers;
  return writes ? before_change(std::move(report), run.id, terminal) : report;
}

Result<int> finish(const schema::SweepRun& run, const SweepFlags& flags, const Terminal& terminal) {
  if (flags.json)
    fmt::print("{}\n", base::dump_json(report::sweep_json(words(), run)));
  else if (!flags.quiet)
    print_answer(shown_answer(run, flags, terminal), terminal);
  if (const auto files = flags.report.files(); !files.empty())
    RL_TRY(write_outputs(report::build_sweep_report(words(), run), files, flags, kSweepLabel));
  if (flags.touches_file() && !run.interrupted) RL_TRY(apply_answer(run, flags, terminal));
  print_run_id(run.id, flags, kSweepLabel);
  return exit_code(run);
}

Result<int> show(const SweepFlags& flags, const Context& context, const Terminal& terminal) {
  RL_TRY(check_write_flags(flags.write));
  RL_TRY_ASSIGN(auto store, context.open_existing_store());
  RL_TRY_ASSIGN(const auto stored, store.load_run(flags.show, schema::SweepRun::kLayout.kind));
  RL_TRY_ASSIGN(const auto run, campaign::sweep_so_far(stored));
  SweepDisplay display(TrialRows(terminal, Terminal{}, flags.talks()));
  display.started(run);
  for (const auto& trial : run.trials) display.trial_finished(run, trial);
  return finish(run, flags, terminal);
}

Result<int> sweep(const SweepFlags& flags, const Context& context) {
  const auto terminal = inspect_terminal(stdout);
  RL_TRY(check_outputs(flags));
  if (!flags.show.empty()) return show(flags, context, terminal);
  RL_TRY_ASSIGN(const auto plan, read_sweep_flags(flags, context));
  if (flags.talks())
    for (const auto& line : plan.notes) fmt::print("current    {}\n", line);
  RL_TRY_ASSIGN(auto store, context.open_store());
  auto err = inspect_terminal(stderr);
  if (flags.quiet) err.interactive = false;
  SweepDisplay display(TrialRows(terminal, err, flags.talks()));
  const auto executor =
      make_command_executor(plan.slots, [&](const execute::JobProgress& now) { display.progress(now); });
  campaign::SweepCampaign campaign(*executor, store, display, &base::cancel_requested);
  RL_TRY_ASSIGN(const auto run, campaign.run(plan.request));
  return finish(run, flags, terminal);
}

void add_what_runs(CLI::App& sweep, SweepFlags& flags) {
  sweep.option_defaults()->group("Command");
  sweep.add_option("COMMAND", flags.stray, "Command to run, after --; {name} is replaced by a parameter's value")
      ->type_name("");
  sweep.add_option("--param", flags.params, "Parameter and its values, the current one first; repeatable")
      ->type_name("NAME=VALUE,...")
      ->allow_extra_args(false);
  sweep
      .add_option("--env", flags.environment, "Environment variable for the command, placeholders allowed; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  add_time(sweep, "--timeout", flags.timeout_s, "Time limit per trial, for example 10m");
  sweep
      .add_option("--depends", flags.depends,
                  "File that stored results depend on, in addition to those in the command; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  sweep.add_option("--devices", flags.devices, "GPUs to watch: all, or numbers (default: the first)")
      ->type_name("GPUS");
  sweep.add_flag("--spread", flags.spread,
                 "Give each command one of the GPUs, in parallel unless they slow each other down");
}

void add_what_counts(CLI::App& sweep, Context& context, SweepFlags& flags) {
  sweep.option_defaults()->group("Measurement and search");
  sweep
      .add_option("--metric", flags.metrics,
                  "Number to read from the output: NAME=REGEX or NAME=json:KEY; the last match counts, unless prefixed "
                  "with median:, mean:, min:, max:, first: or sum:; repeatable")
      ->type_name("NAME=WHERE")
      ->allow_extra_args(false);
  sweep
      .add_option("--metric-file", flags.metric_file,
                  "File with lines \"name value\" that the command writes (default: $RIDGELINE_METRICS_FILE)")
      ->type_name("FILE");
  sweep.add_option("--objective", flags.objective, "Objective: max:METRIC or min:METRIC (default: min:seconds)")
      ->type_name("WAY:METRIC");
  add_number(sweep, "--repeat", flags.repeat, 1, kMostRounds, "Number of interleaved rounds");
  add_number(sweep, "--warmup", flags.warmup, 0, kMostRounds,
             "Number of warm-up trials before the first round; they do not count");
  add_effect(
      sweep, "--min-effect", flags.min_effect,
      "Smallest difference that is not a tie; a number in the metric's unit if that is 0 or below in some trial");
  add_effect(sweep, "--tolerance", flags.tolerance, "Slow-down accepted to prefer values listed earlier");
  add_choice(sweep, context, "--search", flags.search, {"grid", "adaptive", "random"}, "Search strategy");
  add_number(sweep, "--trials", flags.trials, 1, 1'000'000, "Number of combinations that --search random tries");
  add_number(sweep, "--seed", flags.seed, 0, kMostSeed, "Seed for --search random and adaptive");
  add_time(sweep, "--max-time", flags.max_time_s, "Time limit for the whole run, for example 2h", "1s");
  sweep.add_flag("--keep-going", flags.keep_going, "Continue even if the first three trials fail the same way");
  sweep.add_flag("--fresh", flags.fresh, "Measure again instead of using cached results");
}

void add_what_is_written(CLI::App& sweep, Context& context, SweepFlags& flags) {
  add_output_flags(sweep, context, flags, "YAML file with the parameters: its values are the current ones",
                   ApplySpelling::flag_or_file);
  sweep
      .add_option("--apply-to", flags.apply_to,
                  "Path of a parameter in --config, if it has another name there; repeatable")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  sweep
      .add_option("--trials-dir", flags.folder,
                  "Folder for the outputs of trials (default: sweeps next to the results file)")
      ->type_name("FOLDER");
  add_show_flag(sweep, flags);
}

}  // namespace

void add_sweep(CLI::App& app, Context& context) {
  auto flags = std::make_shared<SweepFlags>();
  auto* command = add_subcommand(
      app, context, "sweep", "Run any command over combinations of its parameters and find the best one",
      "  ridgeline sweep --param batch=64,128,256 --param workers=4,8 --metric 'samples_per_s=([0-9.]+) samples/s' "
      "--objective max:samples_per_s -- python train.py --bs {batch} --workers {workers}\n"
      "  ridgeline sweep --param threads=1,2,4 --env OMP_NUM_THREADS={threads} -- ./solve input.dat   (shortest time)",
      [flags, &context] {
        flags->command = context.program.value_or(std::vector<std::string>());
        return sweep(*flags, context);
      });
  add_what_runs(*command, *flags);
  add_what_counts(*command, context, *flags);
  add_what_is_written(*command, context, *flags);
}

void add_supervise(CLI::App& app, Context& context) {
  auto* command =
      add_subcommand(app, context, "supervise", "Runs one command for a sweep", "", [&context]() -> Result<int> {
        const auto words = context.program.value_or(std::vector<std::string>());
        if (words.empty())
          return base::fail(base::ErrorCode::invalid_argument, "no command after --")
              .hint("add one, for example: -- python train.py --bs {{batch}}");
        return execute::supervise(words);
      });
  command->group("");  // hidden: started by ridgeline itself
}

}  // namespace ridgeline::app
