// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "campaign/profile/model_profile.hpp"
#include "campaign/profile/model_recording.hpp"
#include "campaign/profile/profile_campaign.hpp"
#include "execute/gpu_choice.hpp"
#include "execute/local_environment.hpp"
#include "ridgeline/compare_runs.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/idle_command.hpp"
#include "ridgeline/inject_library.hpp"
#include "ridgeline/profile_flags.hpp"
#include "ridgeline/profile_output.hpp"
#include "ridgeline/record_command.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/tune_flags.hpp"
#include "ridgeline/verify_command.hpp"
#include "ridgeline/worker_options.hpp"
#include "schema/execution_provider.hpp"

namespace ridgeline::app {
namespace {

/// `ridgeline profile MODEL`, or `ridgeline profile -- COMMAND`.
struct ModelFlags : ProfileFlags {
  RecordFlags recording;
  VerifyFlags verify;
  TuneFlags model;  ///< those that say what is run, and how
  double time_s = 3;
  int repeats = 1;
};

struct ImportFlags : ProfileFlags {
  std::vector<std::string> files;
};

base::Result<int> import_files(const ImportFlags& flags, const Context& context) {
  RL_TRY(check_profile_flags(flags));
  RL_TRY_ASSIGN(auto store, context.open_store());
  schema::ProfileRequest request;
  request.arguments = {context.arguments.begin() + 1, context.arguments.end()};
  request.files = flags.files;
  RL_TRY_ASSIGN(const auto made, campaign::import_profile(request, flags.trace_folder(context), store));
  RL_TRY(write_profile(made.run, *made.analysed, flags));
  return kOk;
}

base::Result<schema::ProfileRun> profile_model(const ModelFlags& flags, const Context& context) {
  if (flags.model.model.empty())
    return base::fail(base::ErrorCode::invalid_argument, "no model given")
        .hint(
            "ridgeline profile model.onnx, ridgeline profile -- python train.py, or ridgeline profile import FILE of "
            "another profiler");
  RL_TRY(check_profile_flags(flags));
  RL_TRY_ASSIGN(const auto plan, read_tune_flags(flags.model, context));
  const auto environment = execute::local_environment();
  RL_TRY_ASSIGN(const auto groups, execute::choose_gpus(flags.model.devices, environment));
  RL_TRY_ASSIGN(auto store, context.open_store());
  campaign::ModelProfileRequest request;
  request.arguments = {context.arguments.begin() + 1, context.arguments.end()};
  request.model = {plan.request.workload, plan.request.provider, plan.request.where(),
                   plan.request.current.merged(plan.request.space.fixed)};
  std::error_code ignored;
  request.directory = std::filesystem::current_path(ignored).string();
  request.devices = flags.model.devices;
  request.plan.time_s = flags.time_s;
  request.plan.warmup_s = std::min(request.plan.warmup_s, flags.time_s / 2);
  request.repeats = flags.repeats;
  request.trace_folder = flags.trace_folder(context);
  std::optional<campaign::ModelRecording> recording;
  if (!groups.empty()) request.recording = &recording.emplace(find_inject_library());
  const auto executor = make_executor(execute::Isolation::pooled, groups.empty() ? execute::GpuGroup() : groups.front(),
                                      {}, nullptr, recording ? recording->environment() : Variables());
  const auto terminal = inspect_terminal(stderr);
  const auto stage = [&](const std::string& what) {
    if (terminal.interactive && flags.talks()) fmt::print(stderr, "{}\n", styled(what, Style::dim, terminal.colour));
  };
  RL_TRY_ASSIGN(const auto made, campaign::profile_model(request, *executor, store, stage));
  RL_TRY(write_profile(made.run, *made.analysed, flags));
  return made.run;
}

/// What is profiled now, and then a finding of it is verified if that was asked for.
base::Result<int> profile_and_verify(const CLI::App& given, ModelFlags flags, Context& context) {
  const auto asked = flags;
  const bool verifies = flags.verify.finding.has_value();
  if (verifies && !flags.json_to.empty()) {  // one document, of both
    flags.json_to.clear();
    flags.quiet = true;
  }
  if (!context.program) {
    RL_TRY_ASSIGN(auto run, profile_model(flags, context));
    return verifies ? verify_finding(std::move(run), flags.verify, asked, context) : base::Result<int>(kOk);
  }
  RL_TRY_ASSIGN(auto recorded, record_program(given, flags.recording, flags, context));
  if (!verifies || recorded.exit_code != 0) return recorded.exit_code;
  if (!recorded.run) return kNoAnswer;
  context.code_of_error.reset();
  return verify_finding(*std::move(recorded.run), flags.verify, asked, context);
}

void add_import(CLI::App& profile, Context& context) {
  auto flags = std::make_shared<ImportFlags>();
  auto* command = add_subcommand(
      profile, context, "import", "Import what another profiler recorded",
      "  ridgeline profile import trace.json.gz                  (PyTorch profiler)\n"
      "  ridgeline profile import run.sqlite                     (Nsight Systems)\n"
      "  ridgeline profile import run.sqlite kernels.csv         (and Nsight Compute of the same program, joined)\n"
      "  ridgeline profile import onnxruntime_profile.json       (ONNX Runtime)\n"
      "  ridgeline profile import snapshot.pickle                (memory of PyTorch's CUDA allocator)\n"
      "  ridgeline profile import traces/RUN.rltrace             (kept by an earlier profile)\n"
      "\nTo record:\n"
      "  with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True,\n"
      "                              record_shapes=True, schedule=torch.profiler.schedule(wait=2, warmup=2, active=5)) "
      "as p:\n"
      "      for batch in loader: step(batch); p.step()\n"
      "  p.export_chrome_trace('trace.json.gz')\n"
      "  nsys profile --trace=cuda,nvtx -o run python train.py; nsys export --type sqlite run.nsys-rep\n"
      "  ncu --csv --page raw --metrics gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,\\\n"
      "      lts__t_bytes.sum python train.py > kernels.csv",
      [flags, &context] { return import_files(*flags, context); });
  command->add_option("FILE", flags->files, "Trace file, and optionally counters of the same program")
      ->required()
      ->type_name("");
  add_profile_flags(*command, context, *flags);
}

void add_model(CLI::App& command, Context& context, ModelFlags& flags) {
  auto& model = flags.model;
  command.add_option("MODEL", model.model, "ONNX file; to record a program instead: -- COMMAND ARGUMENTS")
      ->type_name("FILE");
  command.option_defaults()->group("Model");
  auto providers = schema::provider_ids();
  providers.insert(providers.begin(), "auto");
  add_choice(command, context, "--provider", model.provider, providers,
             "Execution provider (default: CUDA if available, otherwise the CPU)");
  command.add_option("--shape", model.shapes, "Input shape; repeatable")
      ->type_name("NAME:AxBxC")
      ->allow_extra_args(false);
  command
      .add_option("--input", model.inputs,
                  "Input from a file, or filled with one value, ones, zeros, or integers LOW..HIGH; repeatable")
      ->type_name("NAME:FILE.npy|NAME=VALUE")
      ->allow_extra_args(false);
  add_runtime_flags(command, model.where);
  command.add_option("--config", model.write.config, "YAML file with the settings to run the model with")
      ->type_name("FILE");
  command.add_option("--set", model.set, "Set one parameter; repeatable; see ridgeline params")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--devices", model.devices, "GPU number as in nvidia-smi (default: the first)")->type_name("N");
  add_time(command, "--time", flags.time_s, "Duration of the measured calls");
  add_number(command, "--repeat", flags.repeats, 1, 100,
             "Number of processes; compare needs several to separate a difference from noise");
  add_record_flags(command, context, flags.recording);
  add_verify_flags(command, flags.verify);
  add_profile_flags(command, context, flags);
}

void add_diff(CLI::App& profile, Context& context) {
  add_comparison(profile, context, "diff", "Show what differs between two profiles; same as ridgeline compare",
                 "  ridgeline profile diff before.json.gz after.json.gz\n  ridgeline profile diff RUN latest");
}

}  // namespace

void add_profile(CLI::App& app, Context& context) {
  auto flags = std::make_shared<ModelFlags>();
  auto chosen = std::make_shared<CLI::App*>(nullptr);
  auto* command = add_subcommand(
      app, context, "profile", "Show which modules take a model's time, and what to do about it",
      "  ridgeline profile model.onnx                              (on the provider that tune would use)\n"
      "  ridgeline profile -- python train.py                      (a program on NVIDIA GPUs, recorded as it runs)\n"
      "  ridgeline profile --warmup-steps 10 --steps 5 -- torchrun --nproc-per-node 2 train.py\n"
      "  ridgeline profile --idle -- python serve.py               (a service, to be recorded later as it runs:)\n"
      "  ridgeline profile --pid 1234 --duration 5s\n"
      "  ridgeline profile model.onnx --provider cpu --report profile.html\n"
      "  ridgeline profile --verify 2                              (try what finding 2 of the newest profile "
      "proposes)\n"
      "  ridgeline profile import trace.json.gz                    (from another profiler)\n"
      "  ridgeline profile diff before.json.gz after.json.gz\n",
      [flags, chosen, &context]() -> base::Result<int> {
        if (!(*chosen)->get_subcommands().empty()) return context.exit_code;
        const auto mode = record_mode(flags->recording, context);
        RL_TRY(check_record_flags(**chosen, context, mode));
        if (mode == RecordMode::idle) return start_idle(flags->recording, context);
        if (mode == RecordMode::environment) return print_idle_environment(flags->recording);
        if (mode == RecordMode::process) return record_process(**chosen, flags->recording, *flags, context);
        const bool records = mode == RecordMode::program;
        const auto& word = flags->model.model;
        const bool is_stored = flags->verify.finding && !records && (word.empty() || names_stored_run(word));
        RL_TRY(check_verify_flags(**chosen, flags->verify, is_stored));
        if (is_stored) return verify_stored(word, flags->verify, *flags, context);
        return profile_and_verify(**chosen, *flags, context);
      });
  *chosen = command;
  command->require_subcommand(0, 1);
  add_model(*command, context, *flags);
  add_import(*command, context);
  add_diff(*command, context);
}

}  // namespace ridgeline::app
