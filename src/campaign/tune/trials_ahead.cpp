// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/trials_ahead.hpp"

#include <algorithm>

#include "analysis/ranking.hpp"
#include "execute/calls.hpp"
#include "execute/torch_caches.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;

constexpr std::int64_t kCallsPerWait = 16;
constexpr double kLeastCores = 3;  // of CPUs, for each that compiles
constexpr double kMost = 6;
constexpr double kHostBytes = 4e9;          // PyTorch, its compiler and the processes of that
constexpr double kProcessBytes = 1.5e9;     // of CUDA, with its libraries
constexpr double kParameterCopies = 4;      // weights, what is folded, converted or laid out anew, and activations
constexpr std::ptrdiff_t kMostWaiting = 2;  // that are ready: what waits holds its memory, too
constexpr int kPairsOfFinal = 2;            // of sessions, that every comparison of fresh processes has

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
  const double by_gpu = static_cast<double>(*gpus.front().memory_free_bytes) / one - 2;
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
  if (request_.finalists == 0) return {};
  const auto ranking = analysis::rank(result_.run, result_.outcomes);
  if (ranking.empty()) return {};
  const auto& best = ranking.front().trial->configuration;
  if (best == result_.run.current || !schema::candidate_of(best).empty()) return {};
  std::vector<Configuration> arms;
  for (int i = 0; i < kPairsOfFinal; ++i) arms.insert(arms.end(), {best, result_.run.current});
  return arms;
}

void TrialsAhead::ask(const std::vector<Configuration>& before, const std::vector<Configuration>& rest) {
  workload::AheadRequest request;
  request.kind = result_.run.workload.kind;
  request.most = most();
  if (request.most == 0 || (before.empty() && rest.empty() && !asked_)) return;
  asked_ = true;
  const auto add = [&](const Configuration& configuration, bool may_be_known) {
    if (std::ssize(request.specs) >= request.most + kMostWaiting || !schema::candidate_of(configuration).empty())
      return;
    auto spec = spec_for(result_.run, configuration);
    const auto known = may_be_known && request_.use_store ? store_.find_trial(spec.key()) : std::nullopt;
    if (!known || !*known) request.specs.push_back(std::move(spec));
  };
  for (const auto& one : before) add(one, false);
  for (const auto& one : rest)
    if (std::find(before.begin(), before.end(), one) == before.end()) add(one, true);
  budget_.expect_prepared(request.specs);
  if (const auto& program = context_.code_program; program && !program->path().empty()) {
    const auto variables = execute::torch_cache_environment(program->spec());
    request.programs.push_back({program->path().string(), {variables.begin(), variables.end()}});
  }
  execute::prepare_ahead(executor_, request);
}

}  // namespace ridgeline::campaign
