// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <optional>

#include "base/cancel.hpp"
#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "campaign/bench/training_change.hpp"
#include "report/bench_report.hpp"
#include "report/bench_table.hpp"
#include "report/messages.hpp"
#include "report/simulated.hpp"
#include "ridgeline/apply_changes.hpp"
#include "ridgeline/bench_flags.hpp"
#include "ridgeline/bench_runners.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/report_files.hpp"
#include "ridgeline/section_text.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/trial_rows.hpp"
#include "ridgeline/words.hpp"
#include "ridgeline/worker_options.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::Result;

class BenchDisplay final : public campaign::BenchObserver {
 public:
  explicit BenchDisplay(TrialRows rows) : rows_(rows) {}

  void started(const schema::BenchRun& run) override {
    device_ = run.device;
    if (!rows_.prints()) return;
    if (report::is_simulated(run)) fmt::print("{}\n", words().text(report::messages::simulated()));
    for (const auto& origin : run.origins)
      fmt::print("{:<14}{}  ({})\n", origin.name, origin.value, words().text(origin.origin));
    std::vector<std::string> titles;
    for (const auto& column : report::bench_columns()) titles.push_back(column.title);
    fmt::print("\n");
    rows_.header(report::bench_line(titles, rows_.width()));
  }
  void trial_started(const schema::BenchTrial& trial, std::size_t remaining) override {
    doing_ = fmt::format("#{} {}: {}; about {} to go", trial.id, schema::describe(trial.settings, device_),
                         words().text(trial.reason), remaining);
    rows_.status(doing_);
  }
  void trial_finished(const schema::BenchTrial& trial) override {
    rows_.status("");
    if (!rows_.prints()) return;
    auto row = report::bench_row(words(), trial);
    if (const auto steps = analysis::cut_stability_run(trial); !steps.empty())
      row.cells.back() += ", " + words().text(steps);
    rows_.row(report::bench_line(row.cells, rows_.width()), row.tone);
    std::fflush(stdout);
  }
  /// What a trial's process is doing, until it does steps.
  void waiting(const std::string& doing, double waited_s) {
    if (!doing.empty() && steps_ == 0) rows_.status(fmt::format("{}; {}, {:.0f} s", doing_, doing, waited_s));
  }
  void progress(const execute::JobProgress& now) {
    steps_ = now.steps;
    if (now.steps > 0) rows_.status(fmt::format("{}; {} steps, {:.0f} s", doing_, now.steps, now.elapsed_s));
  }

 private:
  TrialRows rows_;
  std::string doing_;
  std::string device_;
  std::int64_t steps_ = 0;
};

/// What the recommended batch means for the training in the file to change, as it stands before.
Result<std::optional<campaign::BatchAdvice>> advice_for(const schema::BenchRun& run, const BenchFlags& flags) {
  const auto& file = flags.write.file();
  if (file.empty() || run.interrupted) return std::nullopt;
  RL_TRY_ASSIGN(const auto text, base::read_file(file));
  return campaign::batch_advice(run, text, file);
}

base::Json advice_json(const campaign::BatchAdvice& advice, const std::string& file) {
  const auto& change = advice.change;
  base::Json out{{"file", file},
                 {"batch_before", advice.batch_before},
                 {"batch_after", advice.batch_after},
                 {"ratio", change.ratio},
                 {"lines", advice.lines}};
  if (advice.accumulation) {
    out["accumulation"] = *advice.accumulation;
    out["effective_before"] = change.effective_before;
    out["effective_after"] = change.effective_after;
    out["nearest"] = {{"accumulation", change.accumulation},
                      {"effective", change.nearest_effective},
                      {"keeps", change.keeps},
                      {"ratio", change.nearest_ratio}};
  }
  if (advice.learning_rate) {
    out["learning_rate"] = *advice.learning_rate;
    out["linear_rate"] = change.linear_rate;
    out["square_root_rate"] = change.square_root_rate;
    if (advice.accumulation) {
      out["nearest"]["linear_rate"] = change.nearest_linear_rate;
      out["nearest"]["square_root_rate"] = change.nearest_square_root_rate;
    }
  }
  return out;
}

Result<void> apply_answer(const schema::BenchRun& run, const BenchFlags& flags,
                          const std::optional<campaign::BatchAdvice>& advice, const Terminal& terminal) {
  const auto& file = flags.write.file();
  if (!run.answers || !run.answers->recommended) {
    if (flags.talks()) fmt::print("{}: not touched, there is nothing to recommend\n", file);
    return {};
  }
  ApplyRequest request;
  request.file = file;
  request.mode = flags.write.mode();
  request.quiet = !flags.talks();
  RL_TRY_ASSIGN(const auto text, read_apply_file(file, !flags.write.writes(), kNoTrainingFile));
  const auto change = campaign::training_change(words(), run, text, file);
  // A file that has none of the settings is no training's file: nobody is asked whether to add them to it.
  if (request.mode == ApplyMode::ask &&
      (!change || (!change->keeps && !campaign::has_training_settings(change->patch))))
    return {};
  if (!change) return tl::unexpected<base::Error>(change.error());
  RL_TRY(apply_known(*change, request, text, fmt::format("ridgeline apply {} --config {}", run.id, file), terminal));
  // What training converges to is not silenced: with --json it is in there, with --quiet on standard error.
  if (flags.quiet && !flags.json && advice && request.mode != ApplyMode::ask)
    for (const auto& line : advice->lines)
      fmt::print(stderr, "{}{}\n", line.rfind(file + ":", 0) == 0 ? "" : file + ": ", line);
  return {};
}

report::ReportModel shown_answer(const schema::BenchRun& run, const BenchFlags& flags, const Terminal& terminal) {
  auto report = report::build_bench_report(words(), run);
  const bool writes = flags.touches_file() && !run.interrupted && run.answers;
  return writes ? before_change(std::move(report), run.id, terminal) : report;
}

Result<int> finish(const schema::BenchRun& run, const BenchFlags& flags, const Terminal& terminal) {
  // A file that cannot be read any more is reported when it is to be changed, after what was found.
  const auto found = advice_for(run, flags);
  const auto advice = found ? *found : std::optional<campaign::BatchAdvice>();
  if (flags.json) {
    auto json = report::bench_json(words(), run);
    if (!flags.write.file().empty())
      json["batch_change"] = advice ? advice_json(*advice, flags.write.file()) : base::Json();
    fmt::print("{}\n", base::dump_json(json));
  } else if (!flags.quiet) {
    print_answer(shown_answer(run, flags, terminal), terminal);
  }
  if (const auto files = flags.report.files(); !files.empty())
    RL_TRY(write_outputs(report::build_bench_report(words(), run), files, flags));
  if (flags.touches_file() && !run.interrupted) RL_TRY(apply_answer(run, flags, advice, terminal));
  print_run_id(run.id, flags);
  return exit_code(run);
}

Result<int> show(const BenchFlags& flags, const Context& context, const Terminal& terminal) {
  RL_TRY(check_write_flags(flags.write));
  RL_TRY_ASSIGN(auto store, context.open_existing_store());
  RL_TRY_ASSIGN(const auto run, store.load<schema::BenchRun>(flags.show));
  BenchDisplay display(TrialRows(terminal, Terminal{}, flags.talks()));
  display.started(run);
  for (const auto& trial : run.trials) display.trial_finished(trial);
  return finish(run, flags, terminal);
}

Result<int> bench(const BenchFlags& flags, Context& context) {
  const auto terminal = inspect_terminal(stdout);
  RL_TRY(check_outputs(flags));
  if (!flags.show.empty()) return show(flags, context, terminal);
  RL_TRY_ASSIGN(auto plan, read_bench_flags(flags, context));
  auto err = inspect_terminal(stderr);
  if (flags.quiet) err.interactive = false;
  BenchDisplay display(TrialRows(terminal, err, flags.talks()));
  // With several slots the display shows the first one, as it does for progress.
  ChildTerms terms{plan.deadline, [&](const std::string& doing, double waited_s) { display.waiting(doing, waited_s); },
                   plan.logs};
  if (plan.request.job.kind == "python" || plan.request.job.kind == "script")
    plan.request.explain_loader = [&](const schema::TrainingSettings& settings, double limit_s) {
      schema::TrainingTrialSpec spec;
      spec.job = plan.request.job;
      spec.settings = settings;
      if (spec.job.kind == "python") spec.data = schema::DataMode::loader_only;
      spec.device = plan.request.device;
      return explain_loader(spec, {plan.deadline, {}, plan.logs}, limit_s, plan.child_environment);
    };
  std::vector<TrainingSlot> slots;
  for (const auto& gpu : plan.gpus) {
    const auto seen = flags.spread ? execute::gpu_environment(gpu) : plan.child_environment;
    RL_TRY_ASSIGN(auto runners, make_bench_runners(plan.request.job, flags.torch_plugin, terms, seen));
    terms.waiting = {};
    slots.push_back({std::move(runners), gpu.uuid});
  }
  if (slots.empty()) {
    RL_TRY_ASSIGN(auto runners,
                  make_bench_runners(plan.request.job, flags.torch_plugin, terms, plan.child_environment));
    slots.push_back({std::move(runners), ""});
  }
  RL_TRY_ASSIGN(auto store, context.open_store());
  const auto executor = make_training_executor(slots, [&](const execute::JobProgress& now) { display.progress(now); });
  campaign::BenchCampaign campaign(*executor, store, display, &base::cancel_requested);
  // A simulated run has a clock of its own.
  if (plan.request.job.kind != "synthetic")
    plan.request.spent_before_s = base::to_seconds(base::system_clock().now() - plan.begun);
  RL_TRY_ASSIGN(const auto run, campaign.run(plan.request));
  return finish(run, flags, terminal);
}

void add_what_is_trained(CLI::App& bench, BenchFlags& flags) {
  bench.option_defaults()->group("Training");
  bench
      .add_option("--python", flags.python,
                  "Function that returns the model, optimizer, loss and dataset; see docs/bench.md")
      ->type_name("MODULE:FUNCTION");
  bench
      .add_option("--python-exe", flags.interpreter,
                  "Python interpreter with torch for --python or a built-in model (default: python3)")
      ->type_name("PATH");
  bench
      .add_option("--model", flags.model,
                  "Built-in model (mlp, resnet18, resnet50, wideresnet, vit-tiny, vit-small, transformer, gnn), "
                  "TorchScript file, or synthetic:OPTIONS for a simulated training step")
      ->type_name("NAME");
  bench
      .add_option(
          "--torch-plugin", flags.torch_plugin,
          "LibTorch plugin for the built-in models (default: found automatically; without one they run in Python)")
      ->type_name("FILE");
  bench
      .add_option("--option", flags.options,
                  "Option for the function or model: depth, hidden, loss, optimizer, input ...; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  bench.add_option("--lever", flags.levers, "Lever that all trials have, for example channels_last=true; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  bench
      .add_option(
          "--workdir", flags.workdir,
          "New folder to run the script after -- in, a copy of the current folder (default: the current folder)")
      ->type_name("COPY");
  bench.add_option("--data-path", flags.data_path, "Training data, file or folder")->type_name("PATH");
  bench.add_option("--devices", flags.devices, "Device to train on: auto, cpu, cuda, or a GPU number as in nvidia-smi")
      ->type_name("DEVICE")
      ->capture_default_str();
  bench.add_flag(
      "--spread", flags.spread,
      "Spread trials over all GPUs of the same GPU model, one each, in parallel unless they slow each other down");
  bench
      .add_option("--memory-limit", flags.memory_limit,
                  "GPU memory that training may take, to find the settings for a smaller GPU, for example 24GB")
      ->type_name("SIZE");
  add_number(bench, "--seed", flags.seed, 0, kMostSeed, "Seed for weights and shuffling")
      ->default_str(std::to_string(schema::TrainingJob().seed));
}

void add_what_is_tried(CLI::App& bench, Context& context, BenchFlags& flags) {
  bench.option_defaults()->group("Search");
  bench.add_option("--batch-sizes", flags.batch_sizes, "Batch sizes to try (default: 1 to 8192)")
      ->type_name("N[,N...]");
  bench
      .add_option("--num-workers", flags.num_workers,
                  "Numbers of loader workers to try (default: 0 to 16, at most the number of cores)")
      ->type_name("N[,N...]");
  add_choice(bench, context, "--amp", flags.amp, {"off", "bf16", "fp16", "both"},
             "Mixed precision; both tries off and bf16");
  add_choice(bench, context, "--pin-memory", flags.pin_memory, {"on", "off", "both"},
             "Pinned (page-locked) memory for batches");
  add_choice(bench, context, "--search", flags.search, {"adaptive", "grid"}, "Search strategy");
  bench.get_option("--search")->default_str(schema::BenchRequest().search);
  add_number(bench, "--steps", flags.steps, 1, 1'000'000, "Minimum number of timed steps per trial (default 20)");
  add_time(bench, "--max-time", flags.max_time_s, "Time limit for the whole run, for example 30m", "1s");
  add_number(bench, "--stability-run", flags.stability_run, 0, 100'000'000,
             "Steps of the stability run of the recommended settings (default: 200, at most half a minute; 0: no "
             "stability run)");
  add_share(bench, "--mem-headroom", flags.mem_headroom, "Share of memory that the recommendation leaves free")
      ->default_str(share_text(schema::BenchRequest().headroom));
  add_share(bench, "--tolerance", flags.tolerance, "Slow-down accepted to save memory or workers")
      ->default_str(share_text(schema::BenchRequest().tolerance));
  bench
      .add_option("--try", flags.tries,
                  "Levers to try under the recommended settings (default: all that apply; none: none): torch_compile, "
                  "cache_dataset, channels_last ...; see docs/reference/bench.md")
      ->type_name("NAME[,NAME...]");
  bench.add_flag("--no-diagnosis", flags.no_diagnosis, "Skip the experiments that find what limits training speed");
  bench.add_flag("--fresh", flags.fresh, "Measure again instead of using cached results");
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  auto flags = std::make_shared<BenchFlags>();
  auto* command = add_subcommand(
      app, context, "bench", "Find the batch size, loader workers, precision and pinning that train fastest",
      "  ridgeline bench -- python train.py --epochs 1   (an unmodified script, its own options after it)\n"
      "  ridgeline bench --python train:bench --batch-sizes 64,128,256 --num-workers 0,2,4\n"
      "  ridgeline bench --config train.yaml --python train.py:bench --data-path data.h5 --apply\n"
      "  ridgeline bench --data-path data.h5   (without your own training: a built-in graph network)\n"
      "  ridgeline bench --model resnet18 --data-path data.h5 --option optimizer=adamw --amp both\n"
      "  ridgeline bench --model synthetic:decode_us=800 --search grid   (no torch needed: a simulated training step)",
      [flags, &context] { return bench(*flags, context); });
  add_what_is_trained(*command, *flags);
  add_what_is_tried(*command, context, *flags);
  add_output_flags(*command, context, *flags,
                   "Your training's YAML file: its batch_size, num_workers, pin_memory and use_amp are the current "
                   "settings, its section benchmark lists what to try",
                   ApplySpelling::flag_or_file,
                   "Print only errors, and what a new batch size means for the learning rate");
  add_show_flag(*command, *flags);
}

}  // namespace ridgeline::app
