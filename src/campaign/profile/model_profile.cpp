// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/model_profile.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/scratch_folder.hpp"
#include "base/version.hpp"
#include "campaign/budget.hpp"
#include "campaign/fitting_lengths.hpp"
#include "campaign/model_spec.hpp"
#include "campaign/profile/kept_trace.hpp"
#include "campaign/profile/model_recording.hpp"
#include "campaign/profile/profiler_cost.hpp"
#include "campaign/profile/run_cut.hpp"
#include "campaign/run_frame.hpp"
#include "execute/calls.hpp"
#include "schema/messages.hpp"
#include "stats/mean.hpp"
#include "stats/quantile.hpp"
#include "trace/analysis/run_notes.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/findings/find_savings.hpp"
#include "trace/import/onnxruntime_import.hpp"
#include "trace/node_launches.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::Result;

/// Several processes: each is one step, whose rows are the means of its calls. What calls of one process differ by says
/// little of what the next one would take.
void fold_steps(std::vector<schema::ProfileTables>& all, schema::ProfileTables& into) {
  into = std::move(all.front());
  into.step_name = "process";
  const auto mean_step = [](const schema::ProfileTables& tables, std::size_t number) {
    schema::ProfileStep mean;
    mean.name = fmt::format("process {}", number + 1);
    std::int64_t count = 0;
    for (const auto& step : tables.steps) {
      if (step.left_out) continue;
      mean.duration_ns += step.duration_ns;
      mean.work_ns += step.work_ns;
      ++count;
    }
    mean.duration_ns /= std::max<std::int64_t>(1, count);
    mean.work_ns /= std::max<std::int64_t>(1, count);
    return mean;
  };
  const auto mean_of = [](const std::vector<std::int64_t>& values, const std::vector<schema::ProfileStep>& of) {
    std::int64_t sum = 0;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < std::min(values.size(), of.size()); ++i) {
      if (of[i].left_out) continue;
      sum += values[i];
      ++count;
    }
    return sum / std::max<std::int64_t>(1, count);
  };
  std::vector<schema::ProfileStep> steps{mean_step(into, 0)};
  for (std::size_t i = 1; i < all.size(); ++i) steps.push_back(mean_step(all[i], i));
  for (auto& row : into.modules) {
    row.step_ns = {mean_of(row.step_ns, into.steps)};
    if (!row.step_bytes.empty()) row.step_bytes = {mean_of(row.step_bytes, into.steps)};
  }
  into.steps = std::move(steps);
  for (std::size_t i = 1; i < all.size(); ++i)
    for (auto& row : into.modules) {
      const auto same = std::find_if(all[i].modules.begin(), all[i].modules.end(), [&](const auto& other) {
        return other.path == row.path && other.kind == row.kind;
      });
      row.step_ns.push_back(same == all[i].modules.end() ? 0 : mean_of(same->step_ns, all[i].steps));
      if (!row.step_bytes.empty() && same != all[i].modules.end())
        row.step_bytes.push_back(mean_of(same->step_bytes, all[i].steps));
    }
}

}  // namespace

Result<MadeProfile> profile_model(const ModelProfileRequest& request, execute::Executor& executor, store::Store& store,
                                  const std::function<void(const std::string&)>& stage) {
  MadeProfile made;
  auto& run = made.run;
  const Budget budget(base::system_clock(), std::nullopt);
  RunFrame frame(store, base::system_clock(), budget, run, schema::shell_line(request.arguments));
  run.request = request;
  RL_TRY_ASSIGN(run.environment, executor.environment(0));
  run.environment->ridgeline_version = base::version();
  stage("looking at the model and the runtimes");
  const auto& model = *request.model;
  RL_TRY_ASSIGN(auto found, find_model_spec({model.workload, model.provider, model.where, model.configuration},
                                            executor, *run.environment, run.notes));
  auto& spec = found.spec;
  run.request.model->workload.content_sha256 = spec.workload.content_sha256;
  run.provider = spec.provider;
  run.runtime = fmt::format("{} {}", spec.runtime.name, spec.runtime.version);
  const base::ScratchFolder scratch("profile");
  if (scratch.path().empty())
    return base::fail(ErrorCode::io, "no temporary folder can be made").hint("set TMPDIR to a writable folder");
  const bool on_gpu = schema::provider_of(spec.provider).on_gpu();
  std::vector<schema::ProfiledModel> runs;
  std::vector<schema::ProfileTables> tables;
  std::size_t nodes = 0;
  std::size_t events = 0;
  for (int repeat = 0; repeat < std::max(1, request.repeats); ++repeat) {
    stage(request.repeats > 1 ? fmt::format("running the model, process {} of {}", repeat + 1, request.repeats)
                              : "running the model");
    const auto folder = scratch.path() / std::to_string(repeat);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return base::fail(ErrorCode::io, "{}: {}", folder.string(), error.message());
    schema::ProfiledModel profiled;
    auto asked = spec.workload;
    asked.shapes = model.workload.shapes;
    RL_TRY_ASSIGN(auto refitted, with_fitting_lengths(executor, {asked, model.where.library}, spec.workload, [&]() {
                    return execute::profile_model(executor, spec, request.plan, folder.string()).map([&](auto&& one) {
                      profiled = std::forward<decltype(one)>(one);
                    });
                  }));
    if (refitted) found.model = *std::move(refitted);
    if (repeat == 0) run.notes.insert(run.notes.end(), found.model.shape_notes.begin(), found.model.shape_notes.end());
    RL_TRY_ASSIGN(const auto all, trace::import_onnxruntime(profiled.file));
    // Nodes of a GPU's provider are launches, which a longer one does not make later.
    auto runs_of_it = counted_runs(all, profiled, on_gpu ? 0 : own_cost_ns(profiled));
    if (on_gpu && request.recording != nullptr)
      if (auto note = request.recording->add_work(profiled.start_ns, runs_of_it); !note.empty() && repeat == 0)
        run.notes.push_back(std::move(note));
    auto counted = std::make_unique<const trace::Trace>(std::move(runs_of_it));
    auto analysed = std::make_unique<const trace::AnalysedTrace>(*counted);
    tables.push_back(trace::tables_of(*analysed));
    if (repeat == 0) {
      run.findings = trace::find_savings(*analysed, tables.front());
      nodes = counted->nodes.size();
      events = counted->nodes.size() + counted->ranges.size() + counted->kernels.size();
      made.trace = std::move(counted);
      made.analysed = std::move(analysed);
    }
    runs.push_back(std::move(profiled));
  }
  run.sources.push_back({model.workload.location, run.runtime, 0, static_cast<std::int64_t>(events)});
  std::error_code ignored;
  run.sources.back().bytes = static_cast<std::int64_t>(std::filesystem::file_size(model.workload.location, ignored));
  const auto calls = std::max<std::size_t>(1, tables.front().steps.size());
  run.cost = profiler_cost(runs, tables, static_cast<double>(nodes) / static_cast<double>(calls), !on_gpu);
  if (made.trace->kernels.size() > 0) run.cost->nodes_ns = 0;  // the steps' work is the GPU's
  run.roof = {runs.front().bytes_per_s, runs.front().flops_per_s};
  if (tables.size() > 1)
    fold_steps(tables, run.tables);
  else
    run.tables = std::move(tables.front());
  for (const auto& note : runs.front().notes) run.notes.push_back(note);
  if (auto note = trace::launch_note(*made.trace); !note.empty()) run.notes.push_back(std::move(note));
  for (auto& note : trace::run_notes(*made.analysed)) run.notes.push_back(std::move(note));
  keep_trace(*made.trace, request.trace_folder, run);
  RL_TRY(frame.end());
  return made;
}

}  // namespace ridgeline::campaign
