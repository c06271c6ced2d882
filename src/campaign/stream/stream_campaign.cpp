// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/stream_campaign.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/version.hpp"
#include "campaign/budget.hpp"
#include "campaign/messages.hpp"
#include "campaign/model_spec.hpp"
#include "campaign/run_frame.hpp"
#include "campaign/stream/own_peak.hpp"
#include "campaign/stream/stream_gpu_reader.hpp"
#include "campaign/stream/stream_moments.hpp"
#include "campaign/stream/stream_verdict.hpp"
#include "execute/calls.hpp"
#include "execute/frame_line.hpp"
#include "schema/error_message.hpp"
#include "schema/execution_provider.hpp"
#include "schema/messages.hpp"

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

struct MeasuredStream {
  execute::StreamOutcome outcome;
  std::vector<schema::StreamMoment> moments;
};

void tell_tuned(const TunedSettings& tuned, const schema::TrialSpec& spec, std::vector<schema::Message>& notes) {
  const auto& run = tuned.run_id;
  notes.push_back(messages::stream_settings_taken({.run = run, .settings = spec.configuration.to_text()}));
  if (!tuned.left_out.empty())
    notes.push_back(messages::stream_settings_left_out({.run = run, .settings = tuned.left_out}));
  if (tuned.content_sha256 != spec.workload.content_sha256)
    notes.push_back(messages::stream_settings_of_another_model({.run = run, .model = tuned.model}));
}

/// Runs the pipeline once. `find_peak`: the pipeline's own, once it is ready; null: no rate is compared with it.
using FindPeak = std::function<std::optional<OwnPeak>(const schema::StreamReady&)>;
Result<MeasuredStream> measure_stream(const schema::StreamSpec& spec, const StreamCampaignRequest& request,
                                      const FindPeak& find_peak) {
  StreamMoments moments;
  StreamGpuReader gpu(spec.model.device, base::system_clock());
  auto child = request.child;
  std::optional<OwnPeak> peak;
  child.on_ready = [&](const schema::StreamReady& ready) {
    if (find_peak) peak = find_peak(ready);
    if (request.child.on_ready) request.child.on_ready(ready);
  };
  const auto compare = [&](schema::StreamStatus& status) {
    if (peak) status.share_of_peak = status.delivered_per_s / peak->frames_per_s;
  };
  child.on_status = [&](schema::StreamStatus status) {
    compare(status);
    moments.add(status, gpu.read());
    if (request.on_progress) request.on_progress({status, moments.recent()});
  };
  child.on_frame = [&](const std::string& line) -> Result<void> {
    if (const auto latency = execute::latency_of_line(line)) moments.add_frame(*latency);
    return request.child.on_frame ? request.child.on_frame(line) : Result<void>();
  };
  RL_TRY_ASSIGN(auto outcome, execute::run_stream(spec, child));
  compare(outcome.status);
  if (peak) outcome.notes.push_back(messages::stream_peak_known({.run = peak->run_id, .rate = peak->frames_per_s}));
  auto points = moments.take(outcome.status);
  return MeasuredStream{std::move(outcome), std::move(points)};
}

void take_stream(schema::StreamRun& run, MeasuredStream measured) {
  auto& outcome = measured.outcome;
  run.ready = std::move(outcome.ready);
  // What ran: what "auto" came to, and what was left of it where memory ran out.
  if (run.ready.batch_size > 0) run.request.spec.settings.batch_size = run.ready.batch_size;
  run.status = std::move(outcome.status);
  run.moments = std::move(measured.moments);
  run.lost += static_cast<std::int64_t>(outcome.lost);
  if (outcome.error) run.error = schema::message_of(*outcome.error);
  for (auto& note : outcome.notes) run.notes.push_back(std::move(note));
}

}  // namespace

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
    RL_TRY_ASSIGN(auto found,
                  find_model_spec({request.workload, request.provider, request.where, request.configuration}, executor,
                                  *run.environment, run.notes));
    spec.model = std::move(found.spec);
  } else {
    spec.model.workload = request.workload;
  }
  if (const auto graphs = take_out_graphs(spec.model.configuration); !graphs.empty())
    run.notes.push_back(messages::stream_graphs_left_out(graphs));
  run.notes.insert(run.notes.end(), request.notes.begin(), request.notes.end());
  if (request.tuned) tell_tuned(*request.tuned, spec.model, run.notes);
  if (!spec.crop_model.location.empty()) {
    RL_TRY_ASSIGN(const auto crop, execute::inspect(executor, {spec.crop_model, request.where.library}));
    spec.crop_model.content_sha256 = crop.sha256;
  }
  choose_streams(spec, *run.environment);
  const auto peaks = peak_runs(store);
  const std::vector<double> rates = request.rates.size() > 1 ? request.rates : std::vector<double>{0};
  for (const double rate : rates) {
    if (rate > 0) {
      spec.load->rate_per_s = rate;
      if (request.on_rate) request.on_rate(rate);
    }
    stage(rate > 0 ? fmt::format("starting the pipeline for {:g} FPS per source", rate) : "starting the pipeline");
    const bool is_peak = spec.load && spec.load->process == "offline";
    const auto find_peak = [&](const schema::StreamReady& ready) { return own_peak(peaks, run, ready); };
    RL_TRY_ASSIGN(auto measured, measure_stream(spec, request, is_peak ? FindPeak() : FindPeak(find_peak)));
    // A pipeline that never began has nothing to keep.
    if (measured.outcome.error && measured.outcome.ready.workers == 0 && run.points.empty())
      return tl::unexpected(std::move(*measured.outcome.error));
    take_stream(run, std::move(measured));
    run.interrupted = request.child.stopping && request.child.stopping();
    if (rate > 0 && run.error.empty() && !run.interrupted) {
      auto verdict = judge_stream(run.status, run.request);
      run.points.push_back({rate, run.status, run.moments, std::move(verdict)});
    }
    if (run.interrupted || !run.error.empty()) break;
  }
  if (!run.points.empty())
    choose_point(run);
  else if (spec.load && !run.interrupted && run.error.empty())
    run.verdict = judge_stream(run.status, run.request);
  RL_TRY(frame.end());
  return run;
}

Result<schema::StreamRun> rerun_stream(const schema::StreamRun& then, execute::StreamChildOptions child) {
  const auto& spec = then.request.spec;
  for (const auto& source : spec.sources)
    if (source.location == "-")
      return base::fail(base::ErrorCode::invalid_argument,
                        "run {}: its frames came from standard input and are not kept", then.id)
          .hint("run it again by its command: ridgeline {}", then.command_line);
  schema::StreamRun now = then;
  now.notes.clear();
  StreamCampaignRequest request;
  request.child = std::move(child);
  const bool is_endless = then.interrupted || std::any_of(then.ready.sources.begin(), then.ready.sources.end(),
                                                          [](const auto& source) { return source.is_live; });
  bool is_over = false;  // as long as then
  request.child.stopping = [&is_over, given = request.child.stopping] { return is_over || (given && given()); };
  request.on_progress = [&](const schema::StreamProgress& progress) {
    is_over = is_endless && progress.status.elapsed_s >= then.status.elapsed_s;
  };
  RL_TRY_ASSIGN(auto measured, measure_stream(spec, request, {}));
  if (measured.outcome.error) return tl::unexpected(std::move(*measured.outcome.error));
  take_stream(now, std::move(measured));
  return now;
}

}  // namespace ridgeline::campaign
