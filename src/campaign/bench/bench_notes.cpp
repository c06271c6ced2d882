// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/bench_notes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "analysis/bench_answers.hpp"
#include "analysis/lost_loss.hpp"
#include "base/text.hpp"
#include "campaign/bench/training_change.hpp"
#include "campaign/bench/wait_notes.hpp"
#include "campaign/messages.hpp"

namespace ridgeline::campaign {
namespace {

using schema::BenchTrial;
using schema::Message;

/// Whether a flag of a trial is about the training and not about how it was measured. A lost loss has a note of its
/// own.
bool is_about_training(const schema::QualityFlag& flag) {
  constexpr std::array<std::string_view, 6> kOthers{schema::kLossNotFinite, "not_steady", "identity",
                                                    "gpu_shared",           "throttled",  "stability_run_cut"};
  return flag.level == schema::FlagLevel::notice &&
         std::find(kOthers.begin(), kOthers.end(), flag.code) == kOthers.end();
}

void note_flags(const schema::BenchRun& run, std::vector<Message>& notes) {
  for (const auto& trial : run.trials) {
    if (!trial.outcome.measurement) continue;
    for (const auto& flag : trial.outcome.measurement->flags)
      if (is_about_training(flag)) notes.push_back(flag.message);
  }
  if (const auto lost = analysis::lost_losses(run))
    notes.push_back(messages::bench_loss_not_finite({.failed = lost->lost,
                                                     .trained = lost->trained,
                                                     .first = lost->first->id,
                                                     .settings = schema::describe(lost->first->settings, run.device),
                                                     .step = lost->step,
                                                     .where = lost->where}));
}

/// Of the recommended settings' trials, else of the first that counted them.
void note_host_reads(const schema::BenchRun& run, const BenchRequest& request, std::vector<Message>& notes) {
  if (!request.diagnose) return;
  const auto has_reads = [](const BenchTrial& trial) {
    return trial.outcome.measurement && trial.outcome.measurement->resources.host_reads;
  };
  const auto is_recommended = [&](const BenchTrial& trial) {
    return run.answers && run.answers->recommended && trial.settings == run.answers->recommended->settings;
  };
  auto at = std::find_if(run.trials.begin(), run.trials.end(),
                         [&](const auto& trial) { return has_reads(trial) && is_recommended(trial); });
  if (at == run.trials.end()) at = std::find_if(run.trials.begin(), run.trials.end(), has_reads);
  if (at == run.trials.end()) return;
  if (auto note = host_reads_note(*at->outcome.measurement, schema::is_cpu_device(run.device)))
    notes.push_back(std::move(*note));
}

/// With a config file the change of the file is explained.
void note_learning_rate(const schema::BenchRun& run, std::vector<Message>& notes) {
  if (run.request.job.kind != "script" || !run.has_current || !run.answers || !run.answers->recommended) return;
  const auto after = run.answers->recommended->settings.batch;
  if (after == run.current.batch) return;
  std::optional<double> rate;
  for (const auto& origin : run.origins)
    if (origin.name == kRateOrigin)
      if (const auto number = base::parse_number(origin.value, origin.name)) rate = *number;
  const auto change = analysis::batch_consequence(run.current.batch, 1, rate.value_or(1), after);
  notes.push_back(messages::bench_batch_and_rate({.before = run.current.batch,
                                                  .after = after,
                                                  .ratio = change.ratio,
                                                  .root = std::sqrt(change.ratio),
                                                  .rate = rate,
                                                  .linear = change.linear_rate,
                                                  .square_root = change.square_root_rate}));
}

}  // namespace

std::vector<Message> closing_notes(const schema::BenchRun& run, const BenchRequest& request) {
  std::vector<Message> notes;
  note_flags(run, notes);
  note_host_reads(run, request, notes);
  note_learning_rate(run, notes);
  return notes;
}

}  // namespace ridgeline::campaign
