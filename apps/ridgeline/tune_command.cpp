// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <filesystem>
#include <memory>

#include "analysis/machine_speed.hpp"
#include "analysis/proof.hpp"
#include "base/cancel.hpp"
#include "base/file.hpp"
#include "campaign/tune/tune_campaign.hpp"
#include "execute/local_environment.hpp"
#include "report/format.hpp"
#include "report/json_report.hpp"
#include "report/messages.hpp"
#include "report/simulated.hpp"
#include "report/tune_report.hpp"
#include "ridgeline/apply_changes.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/report_files.hpp"
#include "ridgeline/section_text.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/terminal_progress.hpp"
#include "ridgeline/tune_flags.hpp"
#include "ridgeline/words.hpp"
#include "ridgeline/worker_options.hpp"
#include "ridgeline/workloads.hpp"
#include "schema/execution_provider.hpp"
#include "workload/synthetic/synthetic_kind.hpp"

namespace ridgeline::app {

using base::Result;

namespace {

/// `writes`: the change to a file follows.
void print_result(const campaign::TuneResult& result, bool writes, const Terminal& terminal) {
  auto report = report::build_tune_report(words(), result.run, result.outcomes, result.pairs);
  const auto& verdict = result.run.verdict;
  if (writes && verdict && verdict->decision == schema::Decision::change)
    report = before_change(std::move(report), result.run.id, terminal);
  if (report::is_simulated(result.run)) fmt::print("{}\n\n", words().text(report::messages::simulated()));
  fmt::print("{}\n", answer_text(report, terminal));
  if (verdict && verdict->code && verdict->code->python_run)
    fmt::print("code     ridgeline show {} --section code\n", result.run.id);
}

/// "1.65× as fast, 95 % interval 1.62–1.69".
std::string gain_text(const schema::TuneRun& run) {
  if (!run.verdict || !run.verdict->gain) return {};
  return fmt::format("{}, {}", words().text(report::gain_phrase(run.request.objective, *run.verdict->gain)),
                     words().text(report::interval_of(*run.verdict->gain)));
}

/// `compares`: a recommendation was asked for.
int exit_code_of(const schema::TuneRun& run, bool compares) {
  if (run.interrupted) return kCancelled;
  if (analysis::is_undecided(run)) return kNoAnswer;
  if (!run.verdict || run.verdict->decision != schema::Decision::none) return kOk;
  return compares || run.verdict->trial_id == 0 ? kFinding : kOk;
}

/// "report.md" for one of several GPU models: "report-gpu2-nvidia-h200.md".
std::string file_for(const std::string& file, const schema::GpuDescription& gpu) {
  std::string words = fmt::format("gpu{}-", gpu.index.value_or(0));
  for (const char c : gpu.name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!plain && words.back() != '-') words += '-';
  }
  const std::filesystem::path path(file);
  return (path.parent_path() / fmt::format("{}-{}{}", path.stem().string(), words, path.extension().string())).string();
}

/// Whether each setting that is searched could be written to the file: said before anything is measured.
Result<void> check_places(const std::string& file, const config::PatchOptions& patch,
                          const schema::Configuration& current, const std::vector<schema::Dimension>& space) {
  RL_TRY_ASSIGN(const auto text, base::read_file(file));
  for (const auto& dimension : space) {
    const auto* now = current.find(dimension.key);
    for (const auto& value : dimension.values) {
      if (now != nullptr && *now == value) continue;
      RL_TRY(config::patch_settings(text, file, schema::Configuration{{dimension.key, value}}, patch));
      break;
    }
  }
  return {};
}

/// What the runs over several GPU models have in common.
struct Session {
  const TuneFlags& flags;
  const TunePlan& plan;
  store::Store& store;
  Terminal terminal;
  bool alone = true;  ///< one run only
  base::Json json = base::Json::array();
};

/// Tunes on GPUs of one model (or on none) and says what came of it.
Result<schema::TuneRun> tune_group(Session& session, const execute::GpuGroup& gpus) {
  const auto& flags = session.flags;
  auto request = session.plan.request;
  if (!gpus.empty()) request.environment->gpus = gpus;
  if (!flags.write.config.empty() && !flags.write.no_apply)
    request.accept_space = [&](const std::vector<schema::Dimension>& space) {
      auto patch = session.plan.patch;
      if (!flags.write.concerns_file()) patch.section_named = true;  // said at the end, when it would be written
      return check_places(flags.write.config, patch, request.current, space);
    };
  TerminalProgress progress(inspect_terminal(stderr), flags.quiet ? -1 : flags.verbose, request.objective);
  if (const auto* batch = request.space.fixed.find("batch_size")) progress.run_with_batch(batch->as_integer());
  RL_TRY_ASSIGN(const auto simulated, workload::simulated_clock(request.workload));
  const auto fork_server = python_fork_server(request.workload, request.ort_library);
  const auto executor = make_executor(
      session.plan.isolation, gpus, [&](const execute::JobProgress& now) { progress.on_progress(now); },
      simulated.get());
  const base::Clock& clock = simulated ? static_cast<const base::Clock&>(*simulated) : base::system_clock();
  campaign::TuneCampaign campaign(*executor, session.store, clock, progress, &base::cancel_requested);
  RL_TRY_ASSIGN(const auto result, campaign.run(request));
  progress.finish();

  const auto& run = result.run;
  if (flags.json)
    session.json.push_back(report::tune_json(words(), run, result.outcomes, result.pairs));
  else if (!flags.quiet)
    print_result(result, session.alone && flags.touches_file() && !run.interrupted, session.terminal);
  auto files = flags.report.files();
  if (!session.alone)
    for (auto& file : files) file.path = file_for(file.path, gpus.front());
  if (!files.empty())
    RL_TRY(write_outputs(report::build_tune_report(words(), run, result.outcomes, result.pairs), files, flags));
  // The machine-readable answer stays alone on standard output, and nobody is asked beside it.
  const auto& write = flags.write;
  if (session.alone && flags.touches_file() && !run.interrupted) {
    ApplyRequest apply{write.config, session.plan.patch, write.mode(), flags.provenance};
    apply.quiet = flags.quiet;
    apply.later = session.plan.later;
    apply.gain = gain_text(run);
    if (flags.json) apply.out = stderr;
    RL_TRY(apply_recommendation(run, apply, session.terminal));
  } else if (flags.json && !flags.quiet && session.alone && !write.config.empty() && !write.no_apply) {
    fmt::print(stderr, "{}: not touched; with --json, use --apply to write it or --dry-run to show the change\n",
               write.config);
  }
  print_run_id(run.id, flags);
  return run;
}

Result<int> tune(const TuneFlags& flags, Context& context) {
  RL_TRY_ASSIGN(auto plan, read_tune_flags(flags, context));
  RL_TRY(check_outputs(flags));
  const auto* provider = schema::find_provider(flags.provider);  // nullptr: to be chosen
  if (!flags.devices.empty() && provider != nullptr && !provider->on_gpu())
    return base::fail(base::ErrorCode::invalid_argument, "--devices {}: provider {} uses no GPU", flags.devices,
                      flags.provider)
        .hint("leave out one of the two");
  plan.request.environment = execute::local_environment();
  RL_TRY_ASSIGN(auto groups, execute::choose_gpus(flags.devices, *plan.request.environment));
  RL_TRY_ASSIGN(auto store, context.open_store());

  Session session{flags, plan, store, inspect_terminal(stdout), groups.size() <= 1};
  if (groups.empty()) groups.emplace_back();
  int code = kOk;
  for (const auto& gpus : groups) {
    if (!session.alone && !flags.quiet)
      fmt::print(stderr, "GPU      {}: tuned separately, because each GPU model needs its own settings\n",
                 execute::gpu_list(gpus));
    RL_TRY_ASSIGN(const auto run, tune_group(session, gpus));
    if (code == kOk) code = exit_code_of(run, plan.request.finalists > 0);
    if (run.verdict && run.verdict->decision == schema::Decision::none && !run.interrupted && code == kFinding)
      fmt::print(stderr, "no recommendation: {}\n", words().text(run.verdict->reason));
    // Without a usable GPU provider the other models would only repeat the same run.
    if (run.interrupted || !run.on_gpu()) break;
  }
  if (flags.json) fmt::print("{}\n", base::dump_json(session.alone ? session.json.front() : session.json));
  if (!session.alone && !flags.write.config.empty() && !flags.json && !flags.quiet)
    fmt::print(
        "{0}: not touched, because each GPU model has its own settings; write them all: ridgeline apply latest "
        "--config {0} --for-gpu\n",
        flags.write.config);
  return code;
}

void add_what_is_tuned(CLI::App& tune, Context& context, TuneFlags& flags) {
  tune.add_option("MODEL", flags.model, "ONNX file, or synthetic:OPTIONS for a simulated workload")->type_name("FILE");
  tune.add_option("--model", flags.model_option, "Same as MODEL, as an option")->type_name("FILE");
  tune.option_defaults()->group("Workload");
  tune.add_option("--python", flags.python,
                  "Function that returns a PyTorch model and its inputs, instead of MODEL; MODULE:FUNCTION for a "
                  "module in the current folder or on the Python path")
      ->type_name("FILE.py:FUNCTION");
  tune.add_option("--python-exe", flags.python_exe, "Python interpreter with torch (default: python3)")
      ->type_name("PATH");
  add_choice(tune, context, "--also", flags.also, {"onnx"},
             "With --python: also rank the exported model in every ONNX Runtime found");
  tune.add_option("--save-onnx", flags.save_onnx, "With --also onnx: keep the exported model in this file")
      ->type_name("FILE");
  auto providers = schema::provider_ids();
  providers.insert(providers.begin(), "auto");
  add_choice(tune, context, "--provider", flags.provider, providers,
             "Execution provider (default: CUDA if available, otherwise the CPU; auto: the best of all runtimes and "
             "providers)");
  add_choice(tune, context, "--objective", flags.objective, {"latency", "p99", "throughput"},
             "Metric that decides what is fastest");
  tune.add_option("--constraint", flags.constraints, "Limit on a metric, for example 'latency_p99_ms<=20'; repeatable")
      ->type_name("METRIC<=N")
      ->allow_extra_args(false);
  tune.add_option("--shape", flags.shapes, "Input shape; several shapes for one input form a mix; repeatable")
      ->type_name("NAME:AxBxC")
      ->allow_extra_args(false);
  tune.add_option("--batch", flags.batch, "Batch size, or with --objective throughput several to choose from")
      ->type_name("N[,N...]");
  tune.add_option("--input", flags.inputs,
                  "Input from a file, or filled with one value, ones, zeros, or integers LOW..HIGH; repeatable")
      ->type_name("NAME:FILE.npy|NAME=VALUE")
      ->allow_extra_args(false);
  add_number(tune, "--seed", flags.seed, 0, kMostSeed, "Seed for generated inputs and random search");
  add_runtime_flags(tune, flags.where);
  add_choice(tune, context, "--io", flags.tensor_location, {"host", "device"},
             "Memory for inputs and outputs: host, with every copy timed, or device, without copies (default: host; "
             "with --python, as the function returns them)");
  tune.add_option("--devices", flags.devices,
                  "GPUs to spread trials over, numbers as in nvidia-smi; each GPU model is tuned separately (default: "
                  "the first)")
      ->type_name("all|N[,N...]");
}

void add_search(CLI::App& tune, Context& context, TuneFlags& flags) {
  tune.option_defaults()->group("Search");
  add_choice(tune, context, "--search", flags.search, {"adaptive", "grid", "quick", "random"}, "Search strategy");
  tune.add_flag("--quick", flags.quick,
                "Run about a dozen well-chosen short trials; with another --search, only make trials shorter");
  tune.add_option("--space", flags.space,
                  "File with your values, fixed values and constraints; or classic, a fixed grid of 48 CUDA settings")
      ->type_name("FILE.yaml|NAME");
  tune.add_option("--set", flags.set, "Pin one parameter; repeatable; see ridgeline params")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_number(tune, "--trials", flags.trials, 1, 1'000'000, "Number of trials of --search random (default 40)");
  add_time(tune, "--max-time", flags.max_time_s,
           "Time limit for the whole run, for example 5m; trials still running then are stopped and discarded", "1s");
  tune.add_flag("--fresh", flags.fresh, "Measure again instead of using cached results");
}

void add_measurement(CLI::App& tune, Context& context, TuneFlags& flags) {
  tune.option_defaults()->group("Measurement");
  add_number(tune, "--warmup", flags.warmup, 0, 1'000'000,
             "Minimum number of warm-up inferences per trial (more until timings settle)");
  add_number(tune, "--runs", flags.runs, 1, schema::MeasurementPlan{}.max_runs,
             "Number of timed inferences per trial (default: until the 95 % interval is within 1 %, on a GPU 2 %)");
  add_time(tune, "--time", flags.trial_time_s, "Maximum timed window per trial (default 5s)");
  add_share(tune, "--min-effect", flags.min_effect, "Minimum gain that justifies a change");
  tune.add_option("--accuracy-tolerance", flags.accuracy_tolerance,
                  "Allowed scaled output error (for labels, masks and text: the share that differs), or off")
      ->type_name("X");
  add_choice(tune, context, "--precision", flags.precision, {"fp32", "auto", "fp16", "bf16"},
             "With --python: precisions to try in addition to the model's own; fp32 (default) allows TF32, auto tries "
             "autocast and half-precision weights in fp16 and bf16");
  add_share(tune, "--metric-loss", flags.metric_loss,
            "With --python, if the function returns a metric: allowed loss of that metric (default 1%)");
  add_choice(tune, context, "--isolation", flags.isolation, {"pooled", "trial"},
             "One worker process for many trials, or one per trial");
  tune.add_flag("--no-ablation", flags.no_ablation, "Do not measure what each setting of the winner contributes");
  tune.add_flag("--no-comparisons", flags.no_comparisons,
                "Only rank the trials: compare no finalists, recommend nothing");
}

void add_what_is_written(CLI::App& tune, Context& context, TuneFlags& flags) {
  add_output_flags(tune, context, flags,
                   "Your YAML file: its values are the current settings; it is changed only with --apply, or after "
                   "confirmation on a terminal",
                   ApplySpelling::flag);
  auto* config = tune.get_option("--config");
  tune.add_option("--config-section", flags.config_section,
                  "Section for keys the file does not have yet; created if missing")
      ->type_name("NAME")
      ->default_str("onnxruntime")
      ->needs(config);
  tune.add_flag("--provenance", flags.provenance, "Add the run and trial as comments to changed values")->needs(config);
  tune.add_flag("-v,--verbose", flags.verbose, "Print more about each step; give twice for reasons")
      ->excludes(tune.get_option("--quiet"));
}

}  // namespace

void add_tune(CLI::App& app, Context& context) {
  auto flags = std::make_shared<TuneFlags>();
  auto* command = add_subcommand(
      app, context, "tune", "Find the fastest settings of an ONNX model on this machine",
      "  ridgeline tune model.onnx --config config.yaml --apply --report report.md --report report.html\n"
      "  ridgeline tune model.onnx --shape images:1x3x640x640 --objective p99 --max-time 5m\n"
      "  ridgeline tune model.onnx --objective throughput --batch 1,4,8 --constraint 'latency_p99_ms<=50'\n"
      "  ridgeline tune model.onnx --devices all            (spreads the trials over all GPUs)\n"
      "  ridgeline tune --python infer.py:make              (a PyTorch model, see examples/infer.py)\n"
      "  ridgeline tune synthetic:surface=conv --quick      (no model needed: a simulated workload)",
      [flags, &context] { return tune(*flags, context); });
  add_what_is_tuned(*command, context, *flags);
  add_search(*command, context, *flags);
  add_measurement(*command, context, *flags);
  add_what_is_written(*command, context, *flags);
}

}  // namespace ridgeline::app
