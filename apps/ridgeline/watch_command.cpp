// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "ridgeline/flag_values.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/watch_session.hpp"

namespace ridgeline::app {

void add_watch(CLI::App& app, Context& context) {
  auto flags = std::make_shared<WatchFlags>();
  auto* command =
      add_subcommand(app, context, "watch", "Notice when a tuned service becomes slower, and say why",
                     "  ridgeline watch --config config.yaml                          (a 2 s probe a minute; events on "
                     "standard output)\n"
                     "  ridgeline watch --config config.yaml --once                   (for cron: exit code 0 fine, 1 "
                     "slower or failing)\n"
                     "  ridgeline watch --config config.yaml --on-degrade retune --on-degrade 'exec:notify.sh'\n"
                     "  ridgeline watch --config config.yaml --latency-file service.log --baseline learn",
                     [flags, &context] { return run_watch(*flags, context); });
  auto& watch = *command;
  const std::string what = "What is watched";
  watch
      .add_option("--config", flags->config,
                  "YAML file with the service's settings; without one the run's recommendation is watched")
      ->type_name("FILE");
  watch.add_option("--config-section", flags->section, "Section for keys the file does not have yet")
      ->type_name("NAME")
      ->default_str("onnxruntime");
  watch.add_option("--space", flags->space, "Space file whose mapping section says where keys live")
      ->type_name("FILE.yaml");
  watch.add_option("--run", flags->run, "Baseline: this run's recommended trial")->type_name("RUN");
  watch
      .add_option("--baseline", flags->baseline,
                  "latest (default): the newest run that was given the config, else the newest of this machine; learn: "
                  "the first 10 probes")
      ->type_name("latest|learn");
  watch
      .add_option("--model", flags->model,
                  "Model file, where it is not where the run found it; only runs of that name are baselines")
      ->type_name("FILE");
  watch.add_option("--ort-library", flags->ort_library, "ONNX Runtime library, file or folder")->type_name("PATH");
  watch
      .add_option("--latency-file", flags->latency_file,
                  "No probes: judge the latencies that the service appends to this file, one a line, in ms or as JSON")
      ->type_name("FILE");
  watch
      .add_option(
          "--latency-socket", flags->latency_socket,
          "The same from a Unix datagram socket, which is made; listens for --every before each look, with --once too")
      ->type_name("PATH");

  const std::string how = "How it is judged";
  add_time(watch, "--every", flags->every_s, "Time from probe to probe, 100ms to 24h", "100ms", "24h");
  add_time(watch, "--probe-time", flags->probe_time_s,
           "Longest timed part of a probe; it ends when the median is known to 1 %", "10ms", "10m");
  watch.add_option("--threshold", flags->threshold, "Slow-down to be found, 1% to 1000%")
      ->type_name("SHARE")
      ->capture_default_str();
  add_share(watch, "--confidence", flags->confidence, "At most 1 - this share of a false alarm a week", 0.5, 0.999999);
  add_choice(
      watch, context, "--isolation", flags->isolation, {"pooled", "trial"},
      "Keep worker and session between probes, or take a fresh process for each, which holds no memory meanwhile");

  const std::string then = "What is done";
  watch.add_option("--on-degrade", flags->on_degrade, "alert: events only (default); retune; exec:COMMAND; repeatable")
      ->type_name("ACTION")
      ->allow_extra_args(false);
  add_time(watch, "--retune-time", flags->retune_time_s, "Longest time of one retune", "1s", "24h");
  add_choice(watch, context, "--retune-search", flags->retune_search, {"quick", "adaptive"}, "Search of a retune");
  add_time(watch, "--command-time", flags->command_time_s, "Longest time of one exec:COMMAND", "100ms", "1h");
  watch.add_flag("--once", flags->once, "One probe, judged with those before; exit code 0 fine, 1 slower or failing");
  add_number(watch, "--count", flags->count, 1, kAnyNumber, "The same after so many probes");
  watch
      .add_option("--state", flags->state,
                  "What survives a restart (default: a file a config in $XDG_STATE_HOME/ridgeline/watch)")
      ->type_name("FILE");
  watch.add_flag("-q,--quiet", flags->quiet, "Events as JSON only, nothing on standard error");
  watch.add_flag("-v,--verbose", flags->verbose, "Every probe on standard error");
  for (const auto* name : {"--config", "--config-section", "--space", "--run", "--baseline", "--model", "--ort-library",
                           "--latency-file", "--latency-socket"})
    watch.get_option(name)->group(what);
  for (const auto* name : {"--every", "--probe-time", "--threshold", "--confidence", "--isolation"})
    watch.get_option(name)->group(how);
  for (const auto* name : {"--on-degrade", "--retune-time", "--retune-search", "--command-time", "--once", "--count",
                           "--state", "--quiet", "--verbose"})
    watch.get_option(name)->group(then);
  add_database_option(watch, context);
}

}  // namespace ridgeline::app
