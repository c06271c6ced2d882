// SPDX-License-Identifier: Apache-2.0
#include <system_error>

#include "analysis/candidate_table.hpp"
#include "base/hash.hpp"
#include "campaign/messages.hpp"
#include "campaign/tune/candidates.hpp"
#include "campaign/tune/input_checks.hpp"
#include "schema/error_message.hpp"

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

/// In what an exported model computes, as ExportedModel::precision. Half of it on GPUs only: on CPUs ONNX Runtime
/// converts to FP32 and back around nearly every operator. In little time only one kind of it.
std::vector<std::string> precisions_of(RunContext& context) {
  std::vector<std::string> all{""};
  if (!context.result.run.on_gpu()) return all;
  const auto& wanted = context.request.precision;
  for (const std::string half : {"fp16", "bf16"}) {
    if (half == "bf16" && wanted == "auto" && context.budget.is_short())
      context.note(messages::no_candidate(messages::no_time_for_bf16_export()));
    else if (wanted == half || wanted == "auto")
      all.push_back(half);
  }
  return all;
}

std::string how(const schema::ExportedModel& one) {
  return one.exporter + (one.precision.empty() ? "" : "+" + one.precision);
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
  RL_TRY_ASSIGN(const auto exported,
                execute::export_models(context.executor, run.workload, run.runtime.library_path, folder.string(),
                                       precisions_of(context), context.budget.export_limit_s(),
                                       context.budget.time_for_candidate()));
  auto runtimes = execute::FoundRuntimes::find(
      context.executor, "onnx", {"", context.request.runtimes, context.request.plugins, run.runtime.library_path},
      [&context] { return context.budget.time_to_ask(); });
  if (!runtimes) return tl::unexpected(std::move(runtimes).error());
  RL_TRY_ASSIGN(auto found, execute::runtime_candidates(*runtimes, run.environment));
  for (const auto& reason : found.passed_over) context.note(messages::no_candidate(reason));
  if (found.usable.empty()) context.note(messages::no_candidate(messages::no_onnxruntime_for_export()));
  for (const auto& one : exported) {
    const auto passed_over = [&](const schema::Message& why) {
      context.note(messages::no_candidate(messages::export_failed({.exporter = how(one), .why = why})));
    };
    if (!one.problem.empty()) {
      passed_over(one.problem);
      continue;
    }
    const auto workload = workload_of(context, one);
    if (!workload) {
      passed_over(schema::message_of(workload.error()));
      continue;
    }
    for (const auto& usable : found.usable) {
      auto candidate = candidate_of(context, runtimes->all()[usable.index], usable);
      if (!candidate) continue;
      candidate->id = fmt::format("onnx:{}+{}", candidate->name(), how(one));
      candidate->workload = workload->first;
      context.exported[add_candidate(context, std::move(*candidate))] = workload->second;
    }
  }
  return {};
}

void save_exported(RunContext& context) {
  auto& run = context.result.run;
  const auto& file = context.request.save_onnx;
  if (file.empty()) return;
  const auto chosen = run.verdict ? schema::candidate_of(run.verdict->configuration) : std::string();
  const schema::Candidate* source = nullptr;
  for (const auto& row : analysis::candidate_table(run, context.result.outcomes)) {
    const bool ran = row.outcome != nullptr && row.outcome->status == schema::TrialStatus::ok;
    const auto* candidate = schema::find_candidate(run.candidates, row.candidate.id);
    if (candidate == nullptr || !candidate->workload || !ran) continue;
    if (source == nullptr || candidate->id == chosen) source = candidate;
  }
  if (source == nullptr) return context.note(messages::not_saved(file));
  const auto from = source->workload->location;
  std::error_code error;
  std::filesystem::copy_file(from, file, std::filesystem::copy_options::overwrite_existing, error);
  // Weights of large models lie beside it, under the name that the model has for them.
  const auto weights = from + ".data";
  if (!error && std::filesystem::exists(weights))
    std::filesystem::copy_file(weights,
                               std::filesystem::path(file).parent_path() / std::filesystem::path(weights).filename(),
                               std::filesystem::copy_options::overwrite_existing, error);
  if (error) return context.note(messages::save_failed({.file = file, .error = error.message(), .model = from}));
  for (auto& candidate : run.candidates)
    if (candidate.workload && candidate.workload->location == from)
      candidate.workload->location = std::filesystem::absolute(file).string();
  context.note(messages::saved({.candidate = source->id, .file = file}));
}

}  // namespace ridgeline::campaign
