// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/candidates.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "analysis/candidate_table.hpp"
#include "campaign/messages.hpp"
#include "campaign/tune/loading_check.hpp"
#include "schema/messages.hpp"
#include "workload/onnx/loading_code.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::campaign {
namespace {

constexpr std::string_view kOnnxKind = "onnx";

/// Whether a run that asks for this could take place there.
bool suits(const schema::TuneRun& run, const schema::ExecutionProvider& provider) {
  if (run.tensor_location == "device" && !provider.takes_device_tensors) return false;
  return provider.on_gpu() ||
         std::none_of(run.request.constraints.begin(), run.request.constraints.end(),
                      [](const auto& constraint) { return constraint.metric.rfind("gpu_", 0) == 0; });
}

}  // namespace

std::optional<schema::Candidate> candidate_of(const RunContext& context, const schema::FoundRuntime& where,
                                              execute::UsableProvider usable) {
  const auto& run = context.result.run;
  const auto& row = schema::provider_of(usable.provider);
  if (!suits(run, row)) return std::nullopt;
  schema::Candidate candidate;
  candidate.engine = usable.runtime.name;
  candidate.provider = usable.provider;
  candidate.device = row.on_gpu() && !run.environment.gpus.empty() ? "gpu:" + run.environment.gpus.front().uuid
                                                                   : run.environment.cpu_device_id();
  candidate.packages = where.packages;
  if (usable.plugin)
    for (const auto& library : usable.runtime.plugins)
      if (library.library_path == usable.plugin->library_path && !library.package.empty())
        candidate.packages.push_back(library.package);
  candidate.source = where.place;
  candidate.plugin = std::move(usable.plugin);
  candidate.runtime = std::move(usable.runtime);
  return candidate;
}

std::string add_candidate(RunContext& context, schema::Candidate candidate) {
  auto& run = context.result.run;
  const auto name = candidate.name();
  const auto taken = [&](const std::string& id) {
    return schema::find_candidate(run.candidates, id) != nullptr || analysis::candidate_in(run, {}).name() == id;
  };
  candidate.id = name;
  for (int count = 2; taken(candidate.id); ++count) candidate.id = fmt::format("{}#{}", name, count);
  run.candidates.push_back(std::move(candidate));
  return run.candidates.back().id;
}

base::Result<void> add_candidates(RunContext& context, std::size_t current) {
  auto& run = context.result.run;
  context.observer.stage("asking every runtime what it offers");
  RL_TRY_ASSIGN(auto found, execute::runtime_candidates(*context.runtimes, run.environment));
  for (auto& one : found.usable) {
    if (one.index == current && one.provider == run.provider && !one.plugin) continue;
    const auto& where = context.runtimes->all()[one.index];
    if (auto candidate = candidate_of(context, where, std::move(one))) add_candidate(context, std::move(*candidate));
  }
  for (const auto& reason : found.passed_over) context.note(messages::no_candidate(reason));
  if (run.candidates.empty()) context.note(messages::no_other_candidate());
  return {};
}

void add_code(RunContext& context, const schema::TrialSpec& spec, const schema::TrialSpec& current) {
  auto& run = context.result.run;
  if (!run.verdict || run.verdict->decision == schema::Decision::none) return;
  if (spec.workload.kind == workload::kPythonKind) {
    if (run.verdict->decision == schema::Decision::keep) return;
    auto lines = workload::torch_code(spec, run.model);
    run_code(context, spec, lines);
    run.verdict->code = std::move(lines);
    return;
  }
  if (spec.workload.kind != kOnnxKind) return;
  const auto* candidate = schema::find_candidate(run.candidates, schema::candidate_of(run.verdict->configuration));
  const auto library = candidate == nullptr ? workload::RuntimeAccess::linked : workload::RuntimeAccess::opened;
  auto code = workload::loading_code(spec, library);
  if (!code) return context.note(messages::no_loading_code(code.error().message));
  if (candidate != nullptr) {
    std::vector<std::string> packages;
    for (auto package : candidate->packages) {
      if (const auto space = package.find(' '); space != std::string::npos) package.replace(space, 1, "==");
      packages.push_back(std::move(package));
    }
    if (!packages.empty()) code->install = fmt::format("pip install {}", fmt::join(packages, " "));
    run_code(context, spec, *code);
    if (current.workload.kind == kOnnxKind) time_current_code(context, current, *code);
  }
  run.verdict->code = std::move(*code);
}

}  // namespace ridgeline::campaign
