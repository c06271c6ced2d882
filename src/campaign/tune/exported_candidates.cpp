// SPDX-License-Identifier: Apache-2.0
#include <system_error>

#include "base/hash.hpp"
#include "campaign/tune/candidates.hpp"
#include "campaign/tune/input_checks.hpp"

namespace ridgeline::campaign {

using base::Result;

namespace {

/// For each model, as its outputs are looked for by such names too.
std::filesystem::path export_folder(const RunContext& context) {
  const auto& run = context.result.run;
  const auto what = fmt::format("{} {} {} {}", run.workload.location, run.workload.content_sha256,
                                run.runtime.library_sha256, run.workload.seed);
  return context.request.reference_folder / ("exported-" + base::sha256_hex(what).substr(0, 16));
}

/// The file as what trials run, and what it is.
Result<std::pair<schema::WorkloadRef, schema::ModelDescription>> workload_of(RunContext& context,
                                                                             const schema::ExportedModel& exported) {
  schema::WorkloadRef workload;
  workload.kind = "onnx";
  workload.location = exported.path;
  workload.seed = context.result.run.workload.seed;
  workload.input_files = exported.input_files;
  for (auto& file : workload.input_files) {
    RL_TRY_ASSIGN(file.sha256, base::sha256_file(file.path));
  }
  RL_TRY_ASSIGN(auto model, execute::inspect(context.executor, {workload, ""}));
  RL_TRY(check_input_types(model));
  workload.shapes = model.shapes;
  workload.content_sha256 = model.sha256;
  return std::pair{std::move(workload), std::move(model)};
}

}  // namespace

Result<void> add_exported_candidates(RunContext& context) {
  auto& run = context.result.run;
  context.observer.stage("exporting the model to ONNX");
  const auto folder = export_folder(context);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return base::fail(base::ErrorCode::io, "cannot make the folder {} for the exported model: {}", folder.string(),
                      error.message());
  RL_TRY_ASSIGN(const auto exported, execute::export_models(context.executor, run.workload, run.runtime.library_path,
                                                            folder.string(), context.budget.time_left(0, 0)));
  auto runtimes = execute::FoundRuntimes::find(
      context.executor, "onnx", {"", context.request.runtimes, context.request.plugins, run.runtime.library_path});
  if (!runtimes) return tl::unexpected(std::move(runtimes).error());
  RL_TRY_ASSIGN(auto found, execute::runtime_candidates(*runtimes, run.environment));
  for (auto& reason : found.passed_over) context.note("not a candidate: " + std::move(reason));
  if (found.usable.empty()) context.note("not a candidate: ONNX: no ONNX Runtime was found that could run the model");
  for (const auto& one : exported) {
    const auto passed_over = [&](const std::string& why) {
      context.note(fmt::format("not a candidate: ONNX by the exporter {}: {}", one.exporter, why));
    };
    if (!one.problem.empty()) {
      passed_over(one.problem);
      continue;
    }
    const auto workload = workload_of(context, one);
    if (!workload) {
      passed_over(workload.error().message);
      continue;
    }
    for (const auto& usable : found.usable) {
      auto candidate = candidate_of(context, runtimes->all()[usable.index], usable);
      if (!candidate) continue;
      candidate->id = fmt::format("onnx:{}+{}", candidate->name(), one.exporter);
      candidate->workload = workload->first;
      context.exported[add_candidate(context, std::move(*candidate))] = workload->second;
    }
  }
  return {};
}

}  // namespace ridgeline::campaign
