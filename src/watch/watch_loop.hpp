// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/drift_detector.hpp"
#include "base/clock.hpp"
#include "watch/baseline.hpp"
#include "watch/probe_source.hpp"
#include "watch/watch_event.hpp"
#include "watch/watch_state.hpp"

namespace ridgeline::watch {

/// One probe, for a display.
struct ProbeReport {
  std::int64_t number = 0;
  std::optional<double> now_ms;
  std::optional<double> baseline_ms;
  std::optional<double> ratio;
  double probe_deviation = 0;  ///< of ln(ratio) from probe to probe
  schema::Message problem;
  bool learning = false;  ///< the baseline is still being learned
  bool told = false;      ///< an event has said so already
  double took_s = 0;      ///< the whole look at the service, session and warm-up included
};

class WatchObserver {
 public:
  virtual ~WatchObserver() = default;
  virtual void event(const WatchEvent&) {}
  virtual void probe(const ProbeReport&) {}
  virtual void note(std::string_view /*line*/) {}
};

/// What a responder did.
struct Response {
  std::vector<WatchEvent> events;    ///< kind, message and details; the loop fills in the rest
  std::optional<Baseline> baseline;  ///< from now on this one
};

/// Does something about an event.
class Responder {
 public:
  virtual ~Responder() = default;
  [[nodiscard]] virtual base::Result<Response> respond(const WatchEvent& event, WatchState& state) = 0;
  /// At every probe while the service stays slower; `event` is what a new alarm would say.
  [[nodiscard]] virtual base::Result<Response> still_degraded(const WatchEvent& /*event*/, WatchState& /*state*/) {
    return Response{};
  }
};

/// Probes, judges, names causes, tells and responds. Time comes from the clock; nothing here sleeps. One thread.
class WatchLoop {
 public:
  struct Options {
    analysis::DriftDetector::Options drift;
    schema::Objective objective = schema::Objective::latency;
    bool learn = false;  ///< the first kLearned probes are the baseline
    std::string config;  ///< for events
    std::string source;  ///< "probe", "file /var/log/...": part of the question
    int opinions = 1;    ///< looks at most before a doubtful figure is judged, by their median; see undecided()
  };
  static constexpr std::size_t kLearned = 10;
  static constexpr int kFailuresToTell = 2;
  static constexpr int kCalmProbes = 5;  ///< after so many a state counts as healthy

  WatchLoop(Options options, Baseline baseline, ProbeSource& source, std::vector<Responder*> responders,
            const base::Clock& clock, WatchObserver& observer, WatchState state);

  /// One probe and what follows from it. Errors: cancelled, and faults of ours.
  [[nodiscard]] base::Result<void> step();
  void announce(WatchEventKind kind, schema::Message message);
  /// Where things stand, for --once.
  void announce_status();
  /// Goes on with another baseline: what was seen so far says nothing about it. The same one changes nothing.
  void rebase(Baseline baseline);
  /// What a stored state must be about to be of use.
  [[nodiscard]] static std::string question(const Options& options, const Baseline& baseline);

  [[nodiscard]] const WatchState& state() const noexcept { return state_; }
  [[nodiscard]] const Baseline& baseline() const noexcept { return baseline_; }
  /// The last probe speaks for an alarm, but within its noise: the next ones should come at once, well within the time
  /// from probe to probe, and are judged together with it.
  [[nodiscard]] bool undecided() const noexcept { return !doubted_.empty(); }
  /// Slower than the baseline, or the last probe failed.
  [[nodiscard]] bool bad() const noexcept { return state_.drift.degraded || state_.failures > 0; }

 private:
  [[nodiscard]] base::Result<void> on_failure(Observation seen);
  [[nodiscard]] base::Result<void> judge(const Observation& seen, double ratio, double worth);
  [[nodiscard]] base::Result<void> tell(WatchEvent event, bool respond);
  [[nodiscard]] base::Result<void> take_over(Response response);
  void look_for_changes(const analysis::ServiceState& now);
  void remember(const analysis::ServiceState& now, bool calm);
  [[nodiscard]] std::vector<analysis::DegradationCause> causes_now(analysis::ServiceState now, bool closer,
                                                                   const analysis::ServiceState* since = nullptr);
  [[nodiscard]] WatchEvent make_event(WatchEventKind kind, schema::Message message) const;
  [[nodiscard]] analysis::ProbeFigure reference() const;

  Options options_;
  Baseline baseline_;
  ProbeSource& source_;
  std::vector<Responder*> responders_;
  const base::Clock& clock_;
  WatchObserver& observer_;
  WatchState state_;
  analysis::DriftDetector detector_;
  std::optional<double> now_ms_;
  std::optional<double> baseline_ms_;
  std::string last_note_;
  std::vector<double> doubted_;  ///< ratios of one figure that is not judged yet
};

}  // namespace ridgeline::watch
