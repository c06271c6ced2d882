// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/stored_failure.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "execute/gpu_observer.hpp"

namespace ridgeline::campaign {
namespace {

using schema::TrialStatus;

/// A trial after its worker's first found less free by the worker's own context; what is free now is read before there
/// is a worker.
constexpr std::int64_t kContextBytes = std::int64_t{1} << 30;
constexpr std::size_t kRunsWithFailures = 200;

/// Errors of the CUDA driver that are about the card's state and not about what was asked of it.
bool tells_of_the_card(const schema::TrialOutcome& outcome) {
  constexpr std::array<std::string_view, 3> kSigns{"busy or unavailable", "no CUDA-capable device",
                                                   "uncorrectable ECC"};
  if (!outcome.failure) return false;
  const auto said = base::dump_json(outcome.failure->message.arguments());  // the driver's words are among them
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [&](std::string_view sign) { return said.find(sign) != std::string::npos; });
}

bool has_no_more_memory(const store::StoredTrial& stored, const schema::Environment& environment) {
  if (!stored.spec.on_gpu()) return true;
  const auto& failure = stored.outcome.failure;
  if (!failure || !failure->gpu || !failure->gpu->memory_free_before_bytes) return false;
  const auto uuid = execute::gpu_uuid_of(stored.spec.device);
  const auto gpu = std::find_if(environment.gpus.begin(), environment.gpus.end(),
                                [&](const auto& one) { return !uuid.empty() && one.uuid == uuid; });
  return gpu != environment.gpus.end() && gpu->memory_free_bytes &&
         *gpu->memory_free_bytes <= *failure->gpu->memory_free_before_bytes + kContextBytes;
}

/// What decides which trials are made. Not how it was typed, for how long and for which report; and what a trial's key
/// tells of is left to the key.
base::Json trials_asked_for(const schema::TuneRun& run) {
  base::Json question = run.request;
  for (const auto* key : {"arguments", "outputs", "devices", "use_store", "max_time", "workload", "provider", "plan",
                          "paired", "finalists", "leave_one_out"})
    question.erase(key);
  return question;
}

}  // namespace

bool fails_again(const store::StoredTrial& stored, const schema::Environment& environment) {
  switch (stored.outcome.status) {
    case TrialStatus::timeout:
    case TrialStatus::crashed: return false;
    case TrialStatus::out_of_memory: return has_no_more_memory(stored, environment);
    case TrialStatus::failed: return !tells_of_the_card(stored.outcome);
    case TrialStatus::ok:
    case TrialStatus::unsupported:
    case TrialStatus::rejected_accuracy:
    case TrialStatus::invalid: break;
  }
  return true;
}

base::Result<std::set<std::string>> trials_of_interrupted(store::Store& store, const schema::TuneRun& run) {
  std::set<std::string> keys;
  const auto question = trials_asked_for(run);
  RL_TRY_ASSIGN(const auto summaries, store.list_runs(kRunsWithFailures, schema::TuneRun::kLayout.kind));
  for (const auto& summary : summaries) {
    if (summary.id == run.id || summary.line.provider != run.provider || summary.line.device != run.device) continue;
    RL_TRY_ASSIGN(const auto other, store.load<schema::TuneRun>(summary.id));
    if (other.workload.content_sha256 != run.workload.content_sha256 || trials_asked_for(other) != question) continue;
    if (other.interrupted || !summary.finished)
      for (const auto& trial : other.trials) keys.insert(trial.key);
    break;
  }
  return keys;
}

}  // namespace ridgeline::campaign
