// SPDX-License-Identifier: Apache-2.0
#include "watch/watch_loop.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "analysis/messages.hpp"
#include "analysis/summary.hpp"
#include "schema/message_renderer.hpp"
#include "schema/messages.hpp"
#include "stats/quantile.hpp"
#include "watch/messages.hpp"
#include "watch/utc_seconds.hpp"

namespace ridgeline::watch {

using analysis::CauseKind;
using analysis::DegradationCause;
using analysis::DriftEvent;
using analysis::ServiceState;
using base::Result;

namespace {

/// The variance of the median of three standard normal values is 1 - sqrt(3) / pi = 0.449, as certain as the mean
/// of 2.2; a little less is claimed, as noise of one minute is not independent.
constexpr double kWorthOfMedian = 2.0 / 3;

/// All that changed, in one message; empty: nothing did.
schema::Message told(const std::vector<DegradationCause>& changes) {
  schema::Message all;
  for (const auto& change : changes)
    all = all.empty() ? change.evidence : messages::changes({.first = all, .then = change.evidence});
  return all;
}

/// Whether an event has said that already; an older version recorded it as text.
bool is_told(const schema::Message& now, const schema::Message& before) {
  static const std::array tables{schema::messages::table(), analysis::messages::table(), messages::table()};
  static const schema::MessageRenderer words(tables);
  return now == before || (before.is(schema::kLegacy) && words.text(now) == words.text(before));
}

/// Processes known from the baseline are no news either.
void add_known_processes(ServiceState& before, const ServiceState& baseline) {
  if (!before.gpu || !baseline.gpu) return;
  for (const auto* list : {&baseline.gpu->neighbours_before, &baseline.gpu->neighbours_after})
    before.gpu->neighbours_before.insert(before.gpu->neighbours_before.end(), list->begin(), list->end());
}

}  // namespace

WatchLoop::WatchLoop(Options options, Baseline baseline, ProbeSource& source, std::vector<Responder*> responders,
                     const base::Clock& clock, WatchObserver& observer, WatchState state)
    : options_(std::move(options)),
      baseline_(std::move(baseline)),
      source_(source),
      responders_(std::move(responders)),
      clock_(clock),
      observer_(observer),
      state_(std::move(state)),
      detector_(options_.drift, state_.drift) {}

WatchEvent WatchLoop::make_event(WatchEventKind kind, schema::Message message) const {
  WatchEvent event;
  event.kind = kind;
  event.time_utc = clock_.utc_now();
  event.message = std::move(message);
  event.baseline = options_.learn ? "learned" : baseline_.name;
  event.model = baseline_.run.model.path;
  event.device = baseline_.spec.device;
  event.config = options_.config;
  // Latencies that the service writes are real; with a learned baseline nothing else counts.
  event.simulated = schema::is_simulated(baseline_.run) && (!options_.learn || options_.source == "probe");
  event.probes = state_.probes;
  event.baseline_ms = baseline_ms_;
  event.now_ms = now_ms_;
  return event;
}

void WatchLoop::announce(WatchEventKind kind, schema::Message message) {
  auto event = make_event(kind, std::move(message));
  if (kind == WatchEventKind::started && reference().count > 0)
    event.baseline_ms = analysis::figure_value(reference(), reference(), options_.objective) * 1e-6;
  if (state_.drift.degraded) event.slow_down = detector_.slow_down();
  observer_.event(event);
}

void WatchLoop::announce_status() {
  using State = messages::StatusState;
  const auto state = state_.drift.degraded ? "degraded" : state_.failures > 0 ? "failing" : now_ms_ ? "fine" : "idle";
  messages::Status seen{.state = state_.drift.degraded ? State::degraded
                                 : state_.failures > 0 ? State::failing
                                 : now_ms_             ? State::fine
                                                       : State::idle};
  if (now_ms_ && baseline_ms_ && *baseline_ms_ > 0) {
    seen.now_ms = *now_ms_;
    seen.ratio = *now_ms_ / *baseline_ms_;
    seen.baseline_ms = *baseline_ms_;
    // The state in `details` stays fine: one slow probe may be an outlier. In words, such a figure does not read so.
    if (seen.state == State::fine && *seen.ratio > 1 + options_.drift.threshold) seen.state = State::unproven;
  } else if (options_.learn && state_.learned.size() < kLearned) {
    seen.learned = std::ssize(state_.learned);
    seen.needed = kLearned;
  }
  auto event = make_event(WatchEventKind::status, messages::status(seen));
  event.details = {{"state", state}};
  event.slow_down = seen.ratio;
  if (state_.drift.degraded) event.causes = state_.suspects;
  observer_.event(event);
}

analysis::ProbeFigure WatchLoop::reference() const {
  return options_.learn ? analysis::median_figure(state_.learned) : baseline_.figure;
}

std::string WatchLoop::question(const Options& options, const Baseline& baseline) {
  return fmt::format("{} {} {} {}", options.learn ? "learned beside" : "against", baseline.name,
                     base::enum_name(options.objective), options.source);
}

void WatchLoop::rebase(Baseline baseline) {
  auto asked = question(options_, baseline);
  baseline_ = std::move(baseline);
  if (state_.question == asked) return;
  WatchState fresh;
  fresh.question = std::move(asked);
  fresh.pause = state_.pause;
  fresh.no_profile_before = state_.no_profile_before;
  fresh.probes = state_.probes;
  fresh.source = std::move(state_.source);
  state_ = std::move(fresh);
  detector_ = analysis::DriftDetector(options_.drift);
  baseline_ms_.reset();
  doubted_.clear();
}

Result<void> WatchLoop::take_over(Response response) {
  if (response.baseline) {
    source_.reset();
    source_.set_baseline(*response.baseline);
    rebase(std::move(*response.baseline));
  }
  for (auto& event : response.events) {
    auto full = make_event(event.kind, std::move(event.message));
    full.details = std::move(event.details);
    full.causes = std::move(event.causes);
    observer_.event(full);
  }
  return {};
}

Result<void> WatchLoop::tell(WatchEvent event, bool respond) {
  observer_.event(event);
  if (!respond) return {};
  for (auto* responder : responders_) {
    RL_TRY_ASSIGN(auto response, responder->respond(event, state_));
    RL_TRY(take_over(std::move(response)));
  }
  return {};
}

std::vector<DegradationCause> WatchLoop::causes_now(ServiceState now, bool closer, const ServiceState* since) {
  if (closer) source_.look_closer(now);
  if (since != nullptr) {
    auto fresh = analysis::find_causes(*since, now);
    if (fresh.front().kind != CauseKind::unknown) return fresh;
  }
  auto before = state_.healthy ? *state_.healthy : baseline_.state;
  add_known_processes(before, baseline_.state);
  auto causes = analysis::find_causes(before, now);
  // What was there while the service became slow may be gone at the very probe that proves it.
  if (closer && causes.front().kind == CauseKind::unknown && !state_.suspects.empty()) return state_.suspects;
  return causes;
}

void WatchLoop::look_for_changes(const ServiceState& now) {
  if (!now.configuration || now.model_sha256.empty()) return;  // could not be read: says nothing
  const auto changes = analysis::find_changes(baseline_.state, now);
  const auto all = told(changes);
  const bool known = is_told(all, state_.change_told);
  state_.change_told = all;
  if (known) return;
  auto event = make_event(WatchEventKind::changed, all.empty() ? messages::unchanged() : messages::changed(all));
  event.causes = changes;
  observer_.event(event);
}

void WatchLoop::remember(const ServiceState& now, bool calm) {
  if (!calm) {
    state_.maybe_healthy.reset();
    state_.calm_probes = 0;
    return;
  }
  if (!state_.maybe_healthy) {
    state_.maybe_healthy = now;
    state_.calm_probes = 0;
  }
  if (++state_.calm_probes < kCalmProbes) return;
  state_.healthy = std::move(state_.maybe_healthy);
  state_.maybe_healthy.reset();
  state_.suspects.clear();
}

Result<void> WatchLoop::on_failure(Observation seen) {
  doubted_.clear();
  ++state_.failures;
  ProbeReport report;
  report.number = state_.probes;
  report.problem = seen.problem;
  report.told = state_.failing;
  observer_.probe(report);
  if (state_.failing || state_.failures < kFailuresToTell) return {};
  state_.failing = true;
  now_ms_.reset();
  auto event =
      make_event(WatchEventKind::failed, messages::failed({.failures = state_.failures, .problem = seen.problem}));
  event.causes = causes_now(std::move(seen.state), true);
  if (event.causes.front().kind == CauseKind::unknown) event.causes.clear();  // the text has the reason
  return tell(std::move(event), true);
}

Result<void> WatchLoop::judge(const Observation& seen, double ratio, double worth) {
  const bool was_degraded = state_.drift.degraded;
  const auto found = detector_.observe(ratio, worth);
  const double slow_down = detector_.slow_down();
  const auto interval = detector_.slow_down_interval();
  state_.drift = detector_.state();
  const bool calm = !state_.drift.degraded && state_.drift.rising == 0;
  const auto with_figures = [&](WatchEvent event) {
    event.slow_down = slow_down;
    event.slow_down_interval = interval;
    event.confidence = options_.drift.confidence;
    return event;
  };
  if (!was_degraded && !calm) {
    auto suspects = causes_now(seen.state, false);
    if (suspects.front().kind != CauseKind::unknown) state_.suspects = std::move(suspects);
  }
  if (found == DriftEvent::degraded || found == DriftEvent::worse) {
    const bool worse = found == DriftEvent::worse;
    auto causes = causes_now(seen.state, true, worse && state_.steady ? &*state_.steady : nullptr);
    auto event = with_figures(make_event(WatchEventKind::degraded,
                                         messages::degraded({.worse = worse,
                                                             .slower = slow_down - 1,
                                                             .cause = std::string(base::enum_name(causes.front().kind)),
                                                             .evidence = causes.front().evidence})));
    state_.suspects = causes;
    state_.steady = seen.state;
    event.causes = std::move(causes);
    return tell(std::move(event), true);
  }
  if (found == DriftEvent::recovered) {
    auto event = make_event(WatchEventKind::recovered, messages::recovered());
    event.slow_down = ratio;
    state_.suspects.clear();
    state_.steady.reset();
    return tell(std::move(event), true);
  }
  remember(seen.state, calm);
  if (!state_.drift.degraded) return {};
  if (state_.drift.worsening == 0) state_.steady = seen.state;
  auto event = with_figures(make_event(WatchEventKind::degraded, messages::still_degraded(slow_down - 1)));
  event.causes = causes_now(seen.state, false);
  for (auto* responder : responders_) {
    RL_TRY_ASSIGN(auto response, responder->still_degraded(event, state_));
    RL_TRY(take_over(std::move(response)));
  }
  return {};
}

Result<void> WatchLoop::step() {
  const auto begun = clock_.now();
  RL_TRY_ASSIGN(auto seen, source_.look());
  const double took_s = base::to_seconds(clock_.now() - begun);
  ++state_.probes;
  state_.source = source_.position();
  if (!seen.note.empty() && seen.note != last_note_) observer_.note(seen.note);
  last_note_ = seen.note;
  if (!seen.problem.empty()) return on_failure(std::move(seen));
  const auto now = utc_seconds(clock_.utc_now());
  state_.pause.see(state_.drift.degraded, now);
  look_for_changes(seen.state);
  if (!seen.figure) {
    observer_.probe({state_.probes, std::nullopt, std::nullopt, std::nullopt, 0, {}, false, false, took_s});
    return {};
  }
  if (std::exchange(state_.failures, 0) > 0 && std::exchange(state_.failing, false))
    RL_TRY(tell(make_event(WatchEventKind::restored, messages::restored()), true));

  if (options_.learn && state_.learned.size() < kLearned) {
    state_.learned.push_back(*seen.figure);
    if (state_.learned.size() == kLearned) state_.healthy = seen.state;
    now_ms_ = analysis::figure_value(*seen.figure, *seen.figure, options_.objective) * 1e-6;
    observer_.probe({state_.probes, now_ms_, std::nullopt, std::nullopt, 0, {}, true, false, took_s});
    return {};
  }
  const auto baseline = reference();
  const auto ratio = analysis::slow_down_ratio(baseline, *seen.figure, options_.objective);
  now_ms_ = analysis::figure_value(*seen.figure, baseline, options_.objective) * 1e-6;
  baseline_ms_ = analysis::figure_value(baseline, *seen.figure, options_.objective) * 1e-6;
  if (!ratio) return {};
  observer_.probe({state_.probes, now_ms_, baseline_ms_, ratio, detector_.probe_deviation(), {}, false, false, took_s});
  const bool first = doubted_.empty();
  doubted_.push_back(*ratio);
  if (first ? options_.opinions > 1 && detector_.is_doubtful(*ratio) : std::ssize(doubted_) < options_.opinions)
    return {};
  const auto together = std::exchange(doubted_, {});
  return judge(seen, stats::quantile(together, 0.5), first ? 1 : kWorthOfMedian * static_cast<double>(together.size()));
}

}  // namespace ridgeline::watch
