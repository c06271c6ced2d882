// SPDX-License-Identifier: Apache-2.0
#include "schema/tune_run.hpp"

#include <fmt/format.h>

#include "schema/former_keys.hpp"
#include "schema/messages.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(PrunedParam, key, values, reason)
RL_DEFINE_JSON(Comparison, ratio, low, high, p_value, abba_rounds, verdict, tail)
RL_DEFINE_JSON(CorrectedCost, value, low, high, interleaved)
RL_DEFINE_JSON(SpeedReading, at_s, cost, low, high)
RL_DEFINE_JSON(SpeedTrack, device, readings)
RL_DEFINE_JSON(SpeedRecord, reference, tracks, taken_again)
RL_DEFINE_JSON(TunedTrial, id, stage, key, configuration, cached, started_s, reason, corrected, takes, device)
RL_DEFINE_JSON(TunedPair, purpose, key, a, b, setting, status, comparison, failure, cached, flags)
RL_DEFINE_JSON(SettingChange, key, from, to)
RL_DEFINE_JSON(TuneVerdict, decision, configuration, trial_id, gain, tied_with, reason, unproven, isolated_key,
               isolated_current_key, code, changes, undecided)
RL_DEFINE_JSON(TimeSpent, preparation_s, trials_s, comparisons_s, answer_s, forecast_s)
RL_DEFINE_JSON(UntriedConfiguration, configuration, made_for_s)
RL_DEFINE_JSON(TuneRun, RL_RUN_ENVELOPE, cut_short, request, accuracy_tolerance, accuracy_gate, call_variation,
               provider, tensor_location, device, environment, model, workload, runtime, plugin, candidates, plan,
               current, current_origins, in_file, file_provider, space, space_size, pruned, trials, pairs, verdict,
               gpu_ceilings, runtime_graphs, speed, time_spent, untried)

std::string model_name(const TuneRun& run) {
  if (run.workload.kind == "synthetic") return "synthetic:" + run.workload.location;
  const auto& path = run.workload.location;
  return path.substr(path.find_last_of('/') + 1);
}

Run to_run(const TuneRun& run) {
  RunLine line;
  line.subject = model_name(run);
  line.provider = run.provider;
  line.device = run.device;
  line.objective = base::enum_name(run.request.objective);
  if (const auto& verdict = run.verdict) {
    line.decision = base::enum_name(verdict->decision);
    if (verdict->gain) line.value = verdict->gain->ratio;
    using enum messages::AnswerDecisionDecision;
    if (verdict->decision == Decision::change)
      line.answer = messages::answer_decision(
          {.decision = line.value || !verdict->undecided ? change : open, .gain = line.value});
    else if (verdict->decision == Decision::keep)
      line.answer = messages::answer_decision({.decision = verdict->undecided ? open : keep});
  }
  return wrap_run(TuneRun::kLayout, run, std::move(line));
}

}  // namespace ridgeline::schema
