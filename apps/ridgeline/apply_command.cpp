// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "campaign/tune/gpu_profiles.hpp"
#include "config/space_file.hpp"
#include "execute/local_environment.hpp"
#include "report/messages.hpp"
#include "report/simulated.hpp"
#include "ridgeline/apply_changes.hpp"
#include "ridgeline/kinds.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/sweep_flags.hpp"
#include "ridgeline/words.hpp"
#include "ridgeline/worker_options.hpp"
#include "run/registry.hpp"

namespace ridgeline::app {
namespace {

struct ApplyFlags {
  std::string run;
  std::string config;
  std::string section;  ///< "": not given
  std::string space;
  std::vector<std::string> apply_to;
  bool dry_run = false;
  bool provenance = false;
  bool yes = false;
  bool for_gpu = false;
  bool match = false;
};

ApplyRequest request_of(const ApplyFlags& flags) {
  ApplyRequest request{flags.config,
                       {},
                       flags.dry_run ? ApplyMode::dry_run
                       : flags.yes   ? ApplyMode::apply
                                     : ApplyMode::ask,
                       flags.provenance};
  request.patch.section_named = !flags.section.empty();
  if (request.patch.section_named) request.patch.section = flags.section;
  return request;
}

base::Result<void> read_mapping(const ApplyFlags& flags, ApplyRequest& request) {
  if (flags.space.empty()) return {};
  RL_TRY_ASSIGN(const auto text, base::read_file(flags.space));
  RL_TRY_ASSIGN(auto file, config::parse_space_file(text, flags.space));
  request.patch.mapping = std::move(file.mapping);
  return {};
}

/// As it was called, for a second time.
std::string command_line(const Context& context) { return fmt::format("{}", fmt::join(context.arguments, " ")); }

/// --for-gpu: the newest answer of every GPU model into its profile.
base::Result<int> apply_profiles(const ApplyFlags& flags, const Context& context, store::Store& store,
                                 const schema::TuneRun& run) {
  RL_TRY_ASSIGN(const auto collected, campaign::collect_profiles(store, run));
  const auto& profiles = collected.profiles;
  for (const auto& profile : profiles)
    fmt::print("{}: run {}  {}\n", profile.name, profile.run_id, profile.settings.to_text());
  for (const auto& note : collected.notes) fmt::print("note: {}\n", note);
  const std::string provenance = flags.provenance ? "ridgeline" : "";
  RL_TRY_ASSIGN(const auto text, base::read_file(flags.config));
  RL_TRY_ASSIGN(const auto patch, campaign::patch_profiles(text, flags.config, profiles, provenance));
  const auto request = request_of(flags);
  RL_TRY_ASSIGN(const auto left, campaign::left_by_profiles(text, flags.config, profiles, request.patch));
  tell_removals(request, left, "the newest answer");
  const bool only_defaults =
      std::all_of(profiles.begin(), profiles.end(), [](const auto& one) { return one.settings.size() == 0; });
  if (only_defaults && patch.edits.empty()) {
    fmt::print("{}: not touched: the runtime's defaults need no profile\n", flags.config);
    return kOk;
  }
  const auto write = [&] {
    return campaign::apply_profiles(flags.config, profiles, provenance, base::system_clock().utc_now());
  };
  RL_TRY(apply_change(request, text, patch, write, command_line(context), inspect_terminal(stdout)));
  return kOk;
}

/// --match: the profile of the GPU at hand into the main section.
base::Result<int> apply_match(const ApplyFlags& flags, const Context& context) {
  if (!flags.run.empty() || flags.for_gpu)
    return base::fail(base::ErrorCode::invalid_argument, "--match reads the profile from {}", flags.config)
        .hint("leave out {}", flags.for_gpu ? "--for-gpu" : "the run");
  if (!flags.dry_run) RL_TRY(config::check_patchable(flags.config));
  const auto environment = execute::local_environment();
  RL_TRY_ASSIGN(const auto text, base::read_file(flags.config));
  RL_TRY_ASSIGN(const auto profiles, campaign::read_profiles(text, flags.config));
  const std::string name = environment.gpus.empty() ? campaign::GpuProfile::kCpu : environment.gpus.front().name;
  fmt::print("{}: profile {}\n", environment.gpus.empty() ? "no GPU" : execute::gpu_list({environment.gpus.front()}),
             name);
  RL_TRY_ASSIGN(const auto wanted, campaign::settings_for(profiles, name, flags.config));
  auto request = request_of(flags);
  RL_TRY(read_mapping(flags, request));
  if (flags.provenance) request.patch.provenance = "ridgeline profile " + name;
  RL_TRY_ASSIGN(const auto patch, config::patch_settings(text, flags.config, wanted, request.patch));
  RL_TRY_ASSIGN(const auto left, campaign::left_by_match(text, flags.config, profiles, wanted, request.patch));
  tell_removals(request, left, fmt::format("the profile {}", name));
  const auto write = [&] {
    return config::apply_patch(flags.config, wanted, request.patch, base::system_clock().utc_now());
  };
  RL_TRY(apply_change(request, text, patch, write, command_line(context), inspect_terminal(stdout)));
  return kOk;
}

base::Result<int> apply(const ApplyFlags& flags, const Context& context) {
  if (flags.match) return apply_match(flags, context);
  if (flags.run.empty())
    return base::fail(base::ErrorCode::invalid_argument, "no run given")
        .hint("give one, for example: ridgeline apply latest --config {}", flags.config);
  if (!flags.dry_run) RL_TRY(config::check_patchable(flags.config));
  RL_TRY_ASSIGN(auto store, context.open_store(store::Access::read));
  if (flags.for_gpu) {
    if (flags.run.find('/') != std::string::npos)
      return base::fail(base::ErrorCode::invalid_argument, "{}: --for-gpu uses the newest runs, not one trial",
                        flags.run)
          .hint("leave out --for-gpu, or the trial");
    RL_TRY_ASSIGN(const auto tuned, store.load<schema::TuneRun>(flags.run));
    if (!tuned.verdict || tuned.verdict->decision == schema::Decision::none)
      return base::fail(base::ErrorCode::invalid_argument, "run {} has no recommendation{}{}; nothing to apply",
                        tuned.id, tuned.verdict ? ": " : "", tuned.verdict ? words().line(tuned.verdict->reason) : "");
    return apply_profiles(flags, context, store, tuned);
  }
  auto request = request_of(flags);
  RL_TRY(read_mapping(flags, request));
  RL_TRY_ASSIGN(const auto name, run::find_trial(store, flags.run));
  const auto& run = name.run;
  run::Target target{flags.config, request.patch, flags.provenance, {}, name.trial};
  RL_TRY_ASSIGN(target.paths, read_apply_to(flags.apply_to));
  RL_TRY_ASSIGN(const auto text, base::read_file(flags.config));
  const auto kinds = known_kinds();
  RL_TRY_ASSIGN(const auto change, kinds.change(run, text, target, store));
  if (report::is_simulated(run)) fmt::print("{}\n", words().text(report::messages::simulated()));
  RL_TRY(apply_known(change, request, text, command_line(context), inspect_terminal(stdout)));
  return kOk;
}

}  // namespace

void add_apply(CLI::App& app, Context& context) {
  auto flags = std::make_shared<ApplyFlags>();
  auto* command =
      add_subcommand(app, context, "apply", "Write a run's recommended settings into a config.yaml",
                     "  ridgeline apply latest --config config.yaml --dry-run\n"
                     "  ridgeline apply latest/3 --config config.yaml --yes     (the settings of trial 3)\n"
                     "  ridgeline apply latest --config config.yaml --for-gpu   (a profile for each GPU model tuned)\n"
                     "  ridgeline apply --match --config config.yaml            (the profile of this machine's GPU)",
                     [flags, &context] { return apply(*flags, context); });
  command->add_option("RUN", flags->run,
                      "Run id or its first characters, latest, or latest:KIND (tune, bench, sweep, profile); RUN/TRIAL "
                      "for a trial other than the recommended one");
  command->add_option("--config", flags->config, "YAML file to change")->type_name("FILE")->required();
  command
      ->add_option("--config-section", flags->section,
                   "Section for keys the file does not have yet; created if missing")
      ->type_name("NAME")
      ->default_str("onnxruntime");
  command->add_option("--space", flags->space, "Space file whose mapping section lists the path of each key")
      ->type_name("FILE.yaml");
  command
      ->add_option("--apply-to", flags->apply_to,
                   "Path of a sweep parameter in the file, if it has another name there; repeatable")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  command->add_flag(
      "--for-gpu", flags->for_gpu,
      "Write a profile per GPU model instead, each from its newest run of the same model, inputs and objective");
  command->add_flag("--match", flags->match, "Use the profile for this machine's GPU (cpu if it has none)");
  command->add_flag("--dry-run", flags->dry_run, "Show the change without writing it");
  command->add_flag("--provenance", flags->provenance, "Add the run and trial as comments to changed values");
  command->add_flag("-y,--yes", flags->yes,
                    "Write without asking; otherwise nothing is written unless confirmed on a terminal");
  add_database_option(*command, context);
}

}  // namespace ridgeline::app
