// SPDX-License-Identifier: Apache-2.0
#include "watch/retune_responder.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "campaign/tune/recommendation.hpp"
#include "watch/messages.hpp"
#include "watch/service_inspector.hpp"
#include "watch/utc_seconds.hpp"

namespace ridgeline::watch {

using analysis::CauseKind;
using base::ErrorCode;
using base::Result;

RetuneResponder::RetuneResponder(Options options, Baseline baseline, store::Store& store, ProbeSource& source,
                                 const base::Clock& clock, campaign::CampaignObserver& observer,
                                 std::function<bool()> cancelled)
    : options_(std::move(options)),
      baseline_(std::move(baseline)),
      store_(store),
      source_(source),
      clock_(clock),
      observer_(observer),
      cancelled_(std::move(cancelled)) {}

bool RetuneResponder::passes_by_itself(const WatchEvent& event) {
  if (event.causes.empty()) return false;
  switch (event.causes.front().kind) {
    case CauseKind::thermal_throttling:
    case CauseKind::power_throttling:
    case CauseKind::clock_cap:
    case CauseKind::other_process:
    case CauseKind::memory_pressure:
    case CauseKind::busy_cpu:
    case CauseKind::shapes_changed: return true;
    default: return false;
  }
}

Result<campaign::TuneRequest> RetuneResponder::request() const {
  const auto& run = baseline_.run;
  campaign::TuneRequest request;
  request.workload = run.workload;
  request.provider = run.provider;
  request.tensor_location = run.tensor_location;
  request.ort_library = options_.ort_library;
  request.search = options_.search;
  request.objective = run.request.objective;
  request.constraints = run.request.constraints;
  request.plan = run.plan;
  request.paired.warmup = run.plan;
  request.min_effect = run.request.min_effect;
  request.accuracy_tolerance = run.request.accuracy_tolerance;
  request.check_accuracy = run.request.check_accuracy;
  request.precision = run.request.precision;
  request.metric_loss = run.request.metric_loss;
  request.max_time = options_.budget;
  request.seed = run.request.seed;
  request.watch = true;
  request.arguments = options_.arguments;
  request.config_path = absolute_path(options_.config);
  request.use_store = false;  // what the store knows was measured before the service became slow
  request.reference = options_.reference;
  request.gpu_reference = options_.gpu_reference;
  request.reference_folder = options_.reference_folder;
  request.ceilings_folder = options_.ceilings_folder;
  request.environment = options_.environment();
  if (const auto* batch = baseline_.spec.configuration.find("batch_size"))
    request.space.fixed.set("batch_size", *batch);
  RL_TRY_ASSIGN(const auto found, read_watched_settings(options_.config, options_.patch, request.unread));
  for (const auto& setting : found) {
    if (request.space.fixed.contains(setting.key)) continue;
    request.current.set(setting.key, setting.value);
    request.current_origins[setting.key] =
        fmt::format("{}:{} {} = {}", options_.config.string(), setting.line, setting.path, setting.value.to_text());
  }
  return request;
}

Result<Response> RetuneResponder::tune_and_apply() {
  RL_TRY_ASSIGN(const auto asked, request());
  RL_TRY(config::check_patchable(options_.config));
  source_.reset();
  const auto executor = options_.make_executor();
  campaign::TuneCampaign campaign(*executor, store_, clock_, observer_, cancelled_);
  RL_TRY_ASSIGN(const auto result, campaign.run(asked));
  const auto& run = result.run;
  if (run.interrupted || !run.verdict) return base::fail(ErrorCode::cancelled, "the retune was interrupted");
  const auto& verdict = *run.verdict;
  const bool proven =
      verdict.decision == schema::Decision::change && verdict.gain && verdict.gain->verdict == schema::Verdict::faster;
  Response response;
  WatchEvent event;
  event.kind = WatchEventKind::retuned;
  event.details = {{"run", run.id},
                   {"decision", base::enum_name(verdict.decision)},
                   {"applied", proven},
                   {"duration_s", run.duration_s}};
  if (verdict.gain) event.details["gain_ratio"] = verdict.gain->ratio;
  if (!proven) {
    event.message = messages::retuned_nothing({.run = run.id, .config = options_.config.string()});
    response.events.push_back(std::move(event));
    return response;
  }
  const auto wanted = campaign::settings_to_write(run, run.in_file);
  RL_TRY_ASSIGN(const auto applied, config::apply_patch(options_.config, wanted, options_.patch, clock_.utc_now()));
  RL_TRY_ASSIGN(auto baseline, baseline_of(store_, run));
  event.details["settings"] = wanted;
  event.details["backup"] = applied.backup.string();
  if (const auto left = campaign::settings_to_remove(run, run.in_file); !left.empty())
    event.details["remove_by_hand"] = left;
  event.message = messages::retuned({.run = run.id,
                                     .gain = verdict.gain->ratio,
                                     .config = options_.config.string(),
                                     .backup = applied.backup.filename().string()});
  response.events.push_back(std::move(event));
  baseline_ = baseline;
  response.baseline = std::move(baseline);
  return response;
}

Result<Response> RetuneResponder::retune(WatchState& state) {
  auto response = tune_and_apply();
  state.pause.after_retune(utc_seconds(clock_.utc_now()));
  if (!response) {
    if (response.error().code == ErrorCode::cancelled) return response;
    WatchEvent event;
    event.kind = WatchEventKind::action_failed;
    event.message = messages::retune_failed(base::error_line(response.error()));
    response = Response{{std::move(event)}, std::nullopt};
  }
  for (auto& event : response->events)
    event.message = messages::next_retune({.done = event.message, .time = base::format_utc(state.pause.not_before)});
  return response;
}

Result<Response> RetuneResponder::respond(const WatchEvent& event, WatchState& state) {
  if (event.kind != WatchEventKind::degraded) return Response{};
  const auto now = utc_seconds(clock_.utc_now());
  const bool outside = passes_by_itself(event);
  if (outside) state.pause.not_before = std::max(state.pause.not_before, now + RetunePause::kFirstS);
  if (state.pause.allows(now)) return retune(state);
  WatchEvent told;
  told.kind = WatchEventKind::retune_put_off;
  told.message = messages::retune_put_off({.outside = outside, .time = base::format_utc(state.pause.not_before)});
  return Response{{std::move(told)}, std::nullopt};
}

Result<Response> RetuneResponder::still_degraded(const WatchEvent& /*event*/, WatchState& state) {
  if (!state.pause.allows(utc_seconds(clock_.utc_now()))) return Response{};
  return retune(state);
}

}  // namespace ridgeline::watch
