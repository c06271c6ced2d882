// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/stream_campaign.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "base/version.hpp"
#include "campaign/budget.hpp"
#include "campaign/model_spec.hpp"
#include "campaign/run_frame.hpp"
#include "campaign/stream/stream_moments.hpp"
#include "execute/calls.hpp"
#include "schema/execution_provider.hpp"

namespace ridgeline::campaign {
namespace {

using base::Result;

constexpr std::string_view kNoModel = "null";
constexpr std::int64_t kMostOwnStreams = 4;
constexpr std::int64_t kGpuStreams = 2;  ///< the copies of one batch under the kernels of the other

/// Settings that follow from the machine, where the user has left them open.
void choose_streams(schema::StreamSpec& spec, const schema::Environment& environment) {
  auto& settings = spec.settings;
  const auto cpus = std::max<std::int64_t>(1, static_cast<std::int64_t>(environment.usable_cpus));
  auto& configuration = spec.model.configuration;
  // Sessions side by side share the processors.
  const auto threads = std::max<std::int64_t>(1, configuration.get_or("intra_op_num_threads", 1).as_integer(1));
  if (settings.streams == 0)
    settings.streams = schema::provider_of(spec.model.provider).on_gpu()
                           ? kGpuStreams
                           : std::clamp<std::int64_t>(cpus / threads, 1, kMostOwnStreams);
  if (spec.model.provider == schema::cpu_provider().id && !configuration.contains("intra_op_num_threads"))
    configuration.set("intra_op_num_threads", std::max<std::int64_t>(1, cpus / settings.streams));
}

void tell_tuned(const TunedSettings& tuned, const schema::TrialSpec& spec, std::vector<std::string>& notes) {
  notes.push_back(fmt::format("settings of run {}: {}", tuned.run_id, spec.configuration.to_text()));
  if (!tuned.left_out.empty())
    notes.push_back(fmt::format("run {} recommends {} too, which a pipeline decides on its own", tuned.run_id,
                                fmt::join(tuned.left_out, ", ")));
  if (tuned.content_sha256 != spec.workload.content_sha256)
    notes.push_back(fmt::format("run {} tuned another model, {}: its settings need not be the fastest for this one",
                                tuned.run_id, tuned.model));
}

}  // namespace

schema::StreamVerdict judge_stream(const schema::StreamRun& run) {
  schema::StreamVerdict out;
  const auto& status = run.status;
  const auto& settings = run.request.spec.settings;
  const auto fail = [&](std::string reason) {
    out.passed = false;
    out.reasons.push_back(std::move(reason));
  };
  if (status.is_void) fail(status.audit);
  if (settings.slo_ms > 0 && status.latency.p99 > settings.slo_ms)
    fail(fmt::format("p99 is {:.1f} ms, above the SLO of {:g} ms", status.latency.p99, settings.slo_ms));
  const auto dropped = static_cast<double>(status.all_dropped());
  const double share = status.offered > 0 ? dropped / static_cast<double>(status.offered) : 0;
  if (share > run.request.most_drops)
    fail(fmt::format("{:.2f} % of the frames were dropped, above {:g} %", 100 * share, 100 * run.request.most_drops));
  for (const auto& check : status.checks)
    if (!check.passed) fail(fmt::format("the pipeline's own check \"{}\" failed: {}", check.name, check.message));
  return out;
}

Result<schema::StreamRun> run_stream_campaign(const StreamCampaignRequest& request, execute::Executor& executor,
                                              store::Store& store,
                                              const std::function<void(const std::string&)>& stage) {
  schema::StreamRun run;
  const Budget budget(base::system_clock(), std::nullopt);
  RunFrame frame(store, base::system_clock(), budget, run, schema::shell_line(request.arguments));
  run.request = request;
  auto& spec = run.request.spec;
  RL_TRY_ASSIGN(run.environment, executor.environment(0));
  run.environment->ridgeline_version = base::version();
  if (request.workload.location != kNoModel) {
    stage("looking at the model and the runtimes");
    RL_TRY_ASSIGN(spec.model,
                  find_model_spec({request.workload, request.provider, request.where, request.configuration}, executor,
                                  *run.environment, run.notes));
  } else {
    spec.model.workload = request.workload;
  }
  if (request.tuned) tell_tuned(*request.tuned, spec.model, run.notes);
  if (!spec.crop_model.location.empty()) {
    RL_TRY_ASSIGN(const auto crop, execute::inspect(executor, {spec.crop_model, request.where.library}));
    spec.crop_model.content_sha256 = crop.sha256;
  }
  choose_streams(spec, *run.environment);
  stage("starting the pipeline");
  StreamMoments moments;
  auto child = request.child;
  child.on_status = [&](const schema::StreamStatus& status) {
    moments.add(status);
    if (request.child.on_status) request.child.on_status(status);
  };
  RL_TRY_ASSIGN(auto outcome, execute::run_stream(spec, child));
  // A pipeline that never began has nothing to keep.
  if (outcome.error && outcome.ready.workers == 0) return tl::unexpected(std::move(*outcome.error));
  run.ready = std::move(outcome.ready);
  run.status = std::move(outcome.status);
  run.moments = moments.take(run.status);
  run.lost = static_cast<std::int64_t>(outcome.lost);
  if (outcome.error) {
    run.error = outcome.error->message;
    run.error_hint = outcome.error->hint;
  }
  for (auto& note : outcome.notes) run.notes.push_back(std::move(note));
  run.interrupted = request.child.stopping && request.child.stopping();
  if (spec.load && !run.interrupted && run.error.empty()) run.verdict = judge_stream(run);
  RL_TRY(frame.end());
  return run;
}

}  // namespace ridgeline::campaign
