// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/device_memory.hpp"

#include "analysis/comparison.hpp"
#include "analysis/device_learning.hpp"
#include "campaign/messages.hpp"

namespace ridgeline::campaign {
namespace {

/// What is known of a device is kept by the model that taught it.
std::string taught_by(const schema::TuneRun& run) { return run.workload.kind + " " + run.workload.content_sha256; }

}  // namespace

void recall_device(RunContext& context) {
  const auto& run = context.result.run;
  auto known = context.store.learned(run.device, run.provider, taught_by(run));
  if (!known) return context.note(messages::device_not_recalled(known.error().message));
  auto& learned = context.result.learned = std::move(*known);
  if (run.on_gpu() && learned.session_freedom > 0)
    context.note(
        messages::sessions_differ({.known = analysis::session_stdev(learned), .usual = analysis::kGpuSessionStdev}));
}

void learn_of_device(RunContext& context) {
  auto run = context.result.run;
  // What other candidates taught is of their providers, not of the run's.
  std::erase_if(run.trials, [](const auto& trial) { return !schema::candidate_of(trial.configuration).empty(); });
  std::erase_if(run.pairs, [](const auto& pair) {
    return !schema::candidate_of(pair.a).empty() || !schema::candidate_of(pair.b).empty();
  });
  const auto learned = analysis::learned_from(run, context.result.outcomes, context.result.pairs);
  if (learned.empty()) return;
  if (const auto saved = context.store.learn(run.device, run.provider, taught_by(run), learned); !saved)
    context.note(messages::device_not_kept(saved.error().message));
}

}  // namespace ridgeline::campaign
