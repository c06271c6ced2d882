// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/trials_ahead.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/ranking.hpp"
#include "execute/calls.hpp"
#include "execute/torch_caches.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::campaign {

using base::Result;
using schema::Configuration;

namespace {

constexpr std::int64_t kCallsPerWait = 16;
constexpr double kLeastCores = 2.5;  // of CPUs, for each that compiles, which mostly is one thread
constexpr double kMost = 6;
constexpr double kHostBytes = 4e9;          // PyTorch, its compiler and the processes of that
constexpr double kProcessBytes = 1.5e9;     // of CUDA, with its libraries
constexpr double kParameterCopies = 4;      // weights, what is folded, converted or laid out anew, and activations
constexpr std::ptrdiff_t kMostWaiting = 2;  // that are ready: what waits holds its memory, too
constexpr int kPairsOfFinal = 2;            // of sessions, that every comparison of fresh processes has
constexpr int kReferenceRuns = 2;           // whose outputs are compared with each other
constexpr double kLookAgainS = 0.1;
constexpr double kLongestWaitS = 900;  // max-autotune of a large model takes ten minutes; what hangs the trial names
constexpr std::size_t kMostKept = 3;   // of the fastest

}  // namespace

schema::TrialSpec spec_for(const schema::TuneRun& run, const Configuration& configuration) {
  schema::TrialSpec spec;
  spec.workload = run.workload;
  spec.provider = run.provider;
  spec.device = run.device;
  spec.runtime = run.runtime;
  spec.plugin = run.plugin;
  spec.configuration = schema::without_candidate(configuration);
  spec.plan = run.plan;
  spec.tensor_location = run.tensor_location;
  if (const auto* candidate = schema::find_candidate(run.candidates, schema::candidate_of(configuration))) {
    spec.provider = candidate->provider;
    spec.device = candidate->device;
    spec.runtime = candidate->runtime;
    spec.plugin = candidate->plugin;
    if (candidate->workload) spec.workload = *candidate->workload;
  } else if (!run.model.provider.empty() && run.on_gpu() && run.request.objective == schema::Objective::throughput) {
    spec.calls_per_wait = kCallsPerWait;
  }
  return spec;
}

std::int64_t TrialsAhead::most() const {
  const auto& run = result_.run;
  const auto& gpus = run.environment.gpus;
  const bool counts_memory =
      std::any_of(run.request.constraints.begin(), run.request.constraints.end(),
                  [](const auto& constraint) { return constraint.metric.starts_with("gpu_memory"); });
  if (run.workload.kind != workload::kPythonKind || !run.on_gpu() || gpus.empty() || !gpus.front().memory_free_bytes ||
      counts_memory || run.request.objective == schema::Objective::throughput)
    return 0;
  const double one = kProcessBytes + kParameterCopies * static_cast<double>(run.model.parameter_bytes);
  // One that is timed and one more have their memory in any case.
  const double kept = budget_.is_short() ? kMostKept + 1 : 0;
  const double by_gpu = static_cast<double>(*gpus.front().memory_free_bytes) / one - 2 - kept;
  const double by_host = static_cast<double>(run.environment.memory_available_bytes) / kHostBytes;
  const double most = std::min({kMost, run.environment.usable_cpus / kLeastCores, by_gpu, by_host});
  return most < 2 ? 0 : static_cast<std::int64_t>(most);
}

void TrialsAhead::want(std::vector<Configuration> trials) {
  trials_ = std::move(trials);
  auto first = trials_.empty() || budget_.ends_soon() ? finals() : std::vector<Configuration>();
  if (!first.empty()) want_program(first.front());
  if (!first.empty() && !trials_.empty()) first.insert(first.begin(), trials_.front());
  ask(first, trials_);
}

void TrialsAhead::want_from_start(const std::optional<schema::TrialSpec>& reference,
                                  std::vector<Configuration> trials) {
  if (reference) references_.assign(kReferenceRuns, *reference);
  want(std::move(trials));
  references_.clear();
}

Result<std::vector<Configuration>> TrialsAhead::await_any(const std::vector<Configuration>& configurations) {
  bool said = false;
  for (;; clock_.sleep_for(base::from_seconds(kLookAgainS))) {
    RL_TRY(context_.check_cancelled());
    if (said) look_again();
    std::vector<Configuration> there;
    for (const auto& configuration : configurations)
      if (is_there(configuration)) there.push_back(configuration);
    if (!there.empty() || !budget_.may_wait_for(configurations)) return there;
    if (!std::exchange(said, true)) observer_.stage("waiting until a model is compiled");
  }
}

bool TrialsAhead::is_there(const Configuration& configuration) const {
  const bool is_made_here = !states_.states.empty() && schema::candidate_of(configuration).empty();
  if (!is_made_here || budget_.prepared_for_s(configuration) > kLongestWaitS) return true;
  const auto spec = spec_for(result_.run, configuration);
  for (std::size_t i = 0; i < std::min(latest_.specs.size(), states_.states.size()); ++i) {
    if (latest_.specs[i].configuration != spec.configuration) continue;
    const auto& state = states_.states[i];  // "": its process has died, and the trial shows why
    return state.empty() || state == workload::AheadStates::kReady || state == workload::AheadStates::kFailed;
  }
  return is_known(spec);
}

bool TrialsAhead::is_known(const schema::TrialSpec& spec) const {
  if (!request_.use_store) return false;
  const auto known = store_.find_trial(spec.key());
  return known && *known;
}

void TrialsAhead::want_pair(const Configuration& a, const Configuration& b, int pairs) {
  std::vector<Configuration> arms;
  for (int i = 0; i < pairs; ++i) arms.insert(arms.end(), {a, b});
  ask(arms, trials_);
}

void TrialsAhead::want_again(const std::vector<Configuration>& configurations) { ask(configurations, {}); }

void TrialsAhead::end() {
  trials_.clear();
  ask({}, {});
}

void TrialsAhead::want_program(const Configuration& configuration) {
  const auto spec = spec_for(result_.run, configuration);
  if (most() == 0 || spec.workload.kind != workload::kPythonKind) return;
  auto& program = context_.code_program;
  if (!program || program->spec().key() != spec.key()) program.emplace(spec, result_.run.model);
}

std::vector<Configuration> TrialsAhead::finals() const {
  const auto first = fastest(1);
  if (request_.finalists == 0 || first.empty() || first.front() == result_.run.current) return {};
  std::vector<Configuration> arms;
  for (int i = 0; i < (budget_.is_short() ? 1 : kPairsOfFinal); ++i)
    arms.insert(arms.end(), {first.front(), result_.run.current});
  return arms;
}

std::vector<Configuration> TrialsAhead::fastest(std::size_t most) const {
  std::vector<Configuration> out;
  for (const auto& ranked : analysis::rank(result_.run, result_.outcomes)) {
    if (out.size() == most || !schema::candidate_of(ranked.trial->configuration).empty()) break;
    out.push_back(ranked.trial->configuration);
  }
  return out;
}

void TrialsAhead::ask(const std::vector<Configuration>& before, const std::vector<Configuration>& rest) {
  auto& request = latest_;
  request = {};
  request.kind = result_.run.workload.kind;
  request.most = most();
  if (request.most == 0 || (before.empty() && rest.empty() && !asked_)) return;
  asked_ = true;
  const auto add = [&](const Configuration& configuration, bool may_be_known) {
    if (std::ssize(request.specs) >= request.most + kMostWaiting || !schema::candidate_of(configuration).empty())
      return;
    auto spec = spec_for(result_.run, configuration);
    if (!may_be_known || !is_known(spec)) request.specs.push_back(std::move(spec));
  };
  request.specs = references_;
  for (const auto& one : before) add(one, false);
  for (const auto& one : rest)
    if (std::find(before.begin(), before.end(), one) == before.end()) add(one, true);
  budget_.expect_prepared(request.specs);
  if (const auto& program = context_.code_program; program && !program->path().empty()) {
    const auto variables = execute::torch_cache_environment(program->spec());
    request.programs.push_back({program->path().string(), {variables.begin(), variables.end()}});
  }
  if (budget_.is_short()) {
    request.kept.assign(request.specs.begin() + std::ssize(references_), request.specs.end());
    request.kept.push_back(spec_for(result_.run, result_.run.current));
    for (const auto& one : fastest(kMostKept)) request.kept.push_back(spec_for(result_.run, one));
  }
  look_again();
}

void TrialsAhead::look_again() {
  states_ = execute::prepare_ahead(executor_, latest_);
  std::set<Configuration> made;
  for (std::size_t i = 0; i < std::min(latest_.specs.size(), states_.states.size()); ++i)
    if (states_.states[i] == workload::AheadStates::kReady) made.insert(latest_.specs[i].configuration);
  budget_.expect_made(std::move(made));
  if (auto& program = context_.code_program; program && states_.states.size() > latest_.specs.size())
    program->set_ready(states_.states.back() == workload::AheadStates::kReady);
}

}  // namespace ridgeline::campaign
