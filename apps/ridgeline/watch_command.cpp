// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "ridgeline/flag_values.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/watch_session.hpp"

namespace ridgeline::app {

void add_watch(CLI::App& app, Context& context) {
  auto flags = std::make_shared<WatchFlags>();
  auto* command = add_subcommand(
      app, context, "watch", "Detect when a tuned service becomes slower, and report why",
      "  ridgeline watch --config config.yaml                          (a 2 s probe per minute; events on "
      "standard output)\n"
      "  ridgeline watch --config config.yaml --once                   (for cron: exit code 0 fine, 1 "
      "slower or failing)\n"
      "  ridgeline watch --config config.yaml --on-degrade retune --on-degrade 'exec:notify.sh'\n"
      "  ridgeline watch --config config.yaml --on-degrade profile:5s  (record the service, started with profile "
      "--idle)\n"
      "  ridgeline watch --config config.yaml --latency-file service.log --baseline learn",
      [flags, &context] { return run_watch(*flags, context); });
  auto& watch = *command;
  const std::string what = "Service and baseline";
  watch
      .add_option("--config", flags->config,
                  "YAML file with the service's settings (default: the run's recommendation)")
      ->type_name("FILE");
  watch.add_option("--config-section", flags->section, "Section for keys the file does not have yet")
      ->type_name("NAME")
      ->default_str("onnxruntime");
  watch.add_option("--space", flags->space, "Space file whose mapping section lists the path of each key")
      ->type_name("FILE.yaml");
  watch.add_option("--run", flags->run, "Run whose recommended trial is the baseline")->type_name("RUN");
  watch
      .add_option("--baseline", flags->baseline,
                  "Baseline: latest (default), the newest run with this config, otherwise the newest on this machine; "
                  "or learn, the first 10 probes")
      ->type_name("latest|learn");
  watch
      .add_option("--model", flags->model,
                  "Model file, if it has moved since the run; only runs of a model with that name are baselines")
      ->type_name("FILE");
  watch.add_option("--ort-library", flags->ort_library, "ONNX Runtime library, file or folder")->type_name("PATH");
  watch
      .add_option("--latency-file", flags->latency_file,
                  "Instead of probing, judge the latencies that the service appends to this file, one per line, in ms "
                  "or as JSON")
      ->type_name("FILE");
  watch
      .add_option("--latency-socket", flags->latency_socket,
                  "Same, from a Unix datagram socket, which is created; listens for --every before each check, also "
                  "with --once")
      ->type_name("PATH");

  const std::string how = "Detection";
  add_time(watch, "--every", flags->every_s, "Time between probes, 100ms to 24h", "100ms", "24h");
  add_time(watch, "--time", flags->probe_time_s,
           "Maximum timed part of a probe; it ends when the median is known to 1 %", "10ms", "10m");
  watch.add_option("--threshold", flags->threshold, "Slow-down to detect, 1% to 1000%")
      ->type_name("SHARE")
      ->capture_default_str();
  add_share(watch, "--confidence", flags->confidence, "Confidence: at most 1 - SHARE false alarms per week", 0.5,
            0.999999);
  add_choice(
      watch, context, "--isolation", flags->isolation, {"pooled", "trial"},
      "Keep worker and session between probes, or start a fresh process per probe, which uses no memory in between");

  const std::string then = "Actions and output";
  watch
      .add_option(
          "--on-degrade", flags->on_degrade,
          "Action on a slow-down: alert, events only (default), retune, profile:TIME or exec:COMMAND; repeatable")
      ->type_name("ACTION")
      ->allow_extra_args(false);
  add_time(watch, "--retune-time", flags->retune_time_s, "Time limit for one retune", "1s", "24h");
  add_choice(watch, context, "--retune-search", flags->retune_search, {"quick", "adaptive"},
             "Search strategy of a retune");
  add_time(watch, "--cooldown", flags->cooldown_s, "Minimum time between two profiles", "1m", "30d");
  add_time(watch, "--command-time", flags->command_time_s, "Time limit for one exec:COMMAND", "100ms", "1h");
  watch.add_flag("--once", flags->once,
                 "Run one probe and judge it with earlier ones; exit code 0 fine, 1 slower or failing");
  add_number(watch, "--count", flags->count, 1, kAnyNumber, "Same, after this many probes");
  watch
      .add_option("--state", flags->state,
                  "State that survives a restart (default: one file per config in $XDG_STATE_HOME/ridgeline/watch)")
      ->type_name("FILE");
  watch.add_flag("-q,--quiet", flags->quiet, "Print only events as JSON, nothing on standard error");
  watch.add_flag("-v,--verbose", flags->verbose, "Print every probe on standard error");
  for (const auto* name : {"--config", "--config-section", "--space", "--run", "--baseline", "--model", "--ort-library",
                           "--latency-file", "--latency-socket"})
    watch.get_option(name)->group(what);
  for (const auto* name : {"--every", "--time", "--threshold", "--confidence", "--isolation"})
    watch.get_option(name)->group(how);
  for (const auto* name : {"--on-degrade", "--retune-time", "--retune-search", "--cooldown", "--command-time", "--once",
                           "--count", "--state", "--quiet", "--verbose"})
    watch.get_option(name)->group(then);
  add_database_option(watch, context);
}

}  // namespace ridgeline::app
