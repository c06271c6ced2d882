// SPDX-License-Identifier: Apache-2.0
#include "schema/training_run.hpp"

#include "schema/former_keys.hpp"
#include "schema/messages.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(TrainingSpace, batches, workers, amps, pins)
RL_DEFINE_JSON(BenchRequest, RL_RUN_REQUEST, job, search, space, plan, tolerance, headroom, stability_steps,
               short_stability_s, diagnose)
RL_DEFINE_JSON(SkippedSettings, settings, reason)
RL_DEFINE_JSON(BenchTrial, id, stage, key, settings, data, repeat, cached, started_s, reason, outcome)
RL_DEFINE_JSON(BenchAnswer, settings, trials, samples_per_s, low, high, memory_gb, reason, off_front)
RL_DEFINE_JSON(BenchAnswers, fastest, efficient, recommended, pareto, ties, tolerance, headroom, floor, fallback,
               stability_steps, no_recommendation)
RL_DEFINE_JSON(BenchFinding, code, title, evidence, advice, predicted_gain, trials, settings)
RL_DEFINE_JSON(BenchOrigin, name, value, origin)
RL_DEFINE_JSON(BenchRun, RL_RUN_ENVELOPE, interruption, request, device, device_id, environment, current, has_current,
               origins, trials, skipped, answers, findings)

Run to_run(const BenchRun& run) {
  RunLine line;
  line.subject = run.request.job.kind + " " + run.request.job.target;
  line.device = run.device;
  line.objective = "samples/s";
  if (run.answers && run.answers->recommended) {
    line.decision = run.has_current && run.answers->recommended->settings == run.current ? "keep" : "change";
    const auto& settings = run.answers->recommended->settings;
    line.answer = messages::answer_training(
        {.batch = settings.batch,
         .workers = settings.workers,
         .precision = settings.amp == AmpMode::off ? std::string() : std::string(base::enum_name(settings.amp)),
         .pinned = settings.pin_memory,
         .unpinned = !settings.pin_memory && !is_cpu_device(run.device)});
    line.value = run.answers->recommended->samples_per_s;
  }
  return wrap_run(BenchRun::kLayout, run, std::move(line));
}

}  // namespace ridgeline::schema
