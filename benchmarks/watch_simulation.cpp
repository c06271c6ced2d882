// SPDX-License-Identifier: Apache-2.0
// How soon `ridgeline watch` finds a slow-down, and how often it is wrong, over simulated weeks of probes: the watch
// loop, the measuring code and the simulated workload run as they are, on clocks that only count. Services of several
// tempers: probes differ by more than their own noise, the machine swings through the day, a neighbour comes by for a
// minute. Usage: watch_simulation [weeks a line, default 20] [slow-downs a line, default 500]
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "analysis/summary.hpp"
#include "base/random.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_service.hpp"
#include "measure/measurement_session.hpp"
#include "stats/quantile.hpp"
#include "watch/watch_loop.hpp"
#include "watch/worker_probe.hpp"
#include "workload/synthetic/synthetic_workload.hpp"

namespace {

using namespace ridgeline;
using watch::WatchEventKind;

constexpr int kWeek = 10080;  // probes a minute apart
constexpr double kProbeTimeS = 2;
constexpr double kTwoPi = 6.283185307179586;
constexpr double kBaseNs = 2e6;

struct Temper {
  const char* name;
  double noise;     ///< from inference to inference
  double between;   ///< from probe to probe: memory layout, clocks; half of the variance stays for a minute
  double swing;     ///< of the day
  double outliers;  ///< share of minutes in which a neighbour makes probes up to three times as long
  double bias;      ///< of the stored baseline
};

constexpr Temper kTempers[] = {
    {"quiet", 0.01, 0.005, 0.003, 0.001, 0},
    {"usual", 0.02, 0.015, 0.01, 0.004, 0},
    {"uneven", 0.05, 0.03, 0.02, 0.01, 0},
    {"usual, baseline 3 % too fast", 0.02, 0.015, 0.01, 0.004, 0.03},
};

/// Probes of the simulated workload, measured as a worker does.
class SimulatedService final : public watch::ProbeSource {
 public:
  SimulatedService(const Temper& temper, std::uint64_t seed) : temper_(temper), random_(seed) {
    spec_.plan = watch::WorkerProbe::plan_for({}, kProbeTimeS);
  }
  double slow_down = 1;

  void begin_minute() {
    const double day = temper_.swing * std::sin(kTwoPi * static_cast<double>(minutes_++) / 1440);
    minute_ = std::exp(temper_.between * std::sqrt(0.5) * random_.normal() + day);
    if (random_.uniform() < temper_.outliers) minute_ *= 1 + 2 * random_.uniform();
  }

  base::Result<watch::Observation> look() override {
    ++probes_;
    const double factor = slow_down * minute_ * std::exp(temper_.between * std::sqrt(0.5) * random_.normal());
    workload::SyntheticOptions options;
    options.surface = workload::SurfaceKind::flat;
    options.base = base::Nanoseconds(std::llround(kBaseNs * factor));
    options.noise = temper_.noise;
    options.spikes = 0.002;
    workload::SyntheticWorkload service(options, spec_, clock_, random_.next());
    RL_TRY(service.prepare());
    measure::MeasureControl control;
    RL_TRY_ASSIGN(auto measurement, measure::measure(service, spec_.plan, control));
    timed_s_ += measurement.wall_ns * 1e-9;
    watch::Observation seen;
    seen.figure = analysis::figure_of(measurement);
    return seen;
  }
  void look_closer(analysis::ServiceState&) override {}
  void reset() override {}
  void set_baseline(const watch::Baseline&) override {}

  [[nodiscard]] double timed_s_a_minute() const {
    return timed_s_ / static_cast<double>(std::max<std::int64_t>(1, minutes_));
  }
  [[nodiscard]] double probes_a_minute() const {
    return static_cast<double>(probes_) / static_cast<double>(std::max<std::int64_t>(1, minutes_));
  }

 private:
  const Temper& temper_;
  base::Random random_;
  schema::TrialSpec spec_;
  std::shared_ptr<const workload::VirtualClock> clock_ = std::make_shared<workload::VirtualClock>();
  std::int64_t minutes_ = 0;
  std::int64_t probes_ = 0;
  double minute_ = 1;  ///< what all probes of this minute are multiplied by
  double timed_s_ = 0;
};

class Watched {
 public:
  Watched(const Temper& temper, std::uint64_t seed)
      : service(temper, seed), loop_(options(), baseline(temper), service, {}, clock_, heard_, {}) {}

  /// Events of that kind over so many minutes.
  int watch(int minutes, WatchEventKind kind = WatchEventKind::degraded) {
    const int before = heard_.count(kind);
    for (int i = 0; i < minutes; ++i) {
      clock_.advance(std::chrono::seconds(60));
      service.begin_minute();
      do {
        if (!loop_.step()) std::abort();
      } while (loop_.undecided());
    }
    return heard_.count(kind) - before;
  }
  SimulatedService service;

 private:
  static watch::WatchLoop::Options options() {
    watch::WatchLoop::Options out;
    out.opinions = 3;  // as `ridgeline watch` has it
    return out;
  }
  static watch::Baseline baseline(const Temper& temper) {
    watch::Baseline out;
    const double median = kBaseNs * (1 - temper.bias);
    out.figure = {2000, median, median, median, median, median};
    return out;
  }
  fakes::FakeClock clock_;
  fakes::HeardEvents heard_;
  watch::WatchLoop loop_;
};

void false_alarms(int weeks) {
  fmt::print(
      "| service | simulated weeks | false alarms | a week | probes a minute | of it timed, s "
      "|\n|---|---:|---:|---:|---:|---:|\n");
  for (const auto& temper : kTempers) {
    int alarms = 0;
    double timed = 0;
    double probes = 0;
    for (int week = 0; week < weeks; ++week) {
      Watched watched(temper, static_cast<std::uint64_t>(week) + 1);
      alarms += watched.watch(kWeek);
      timed += watched.service.timed_s_a_minute() / weeks;
      probes += watched.service.probes_a_minute() / weeks;
    }
    fmt::print("| {} | {} | {} | {:.3f} | {:.3f} | {:.2f} |\n", temper.name, weeks, alarms,
               static_cast<double>(alarms) / weeks, probes, timed);
  }
}

void detection(int cases) {
  fmt::print(
      "\n| service | slow-down | found within 5 minutes | median time, min | 95 % of the times below, min | not within "
      "an hour |\n"
      "|---|---:|---:|---:|---:|---:|\n");
  for (const auto& temper : kTempers)
    for (const double slow_down : {1.10, 1.15, 1.30}) {
      std::vector<double> minutes;
      int missed = 0;
      for (int i = 0; i < cases; ++i) {
        Watched watched(temper, 1000 + static_cast<std::uint64_t>(i));
        if (watched.watch(60 + i * 37 % 240) > 0) continue;  // already alarmed: counted above
        watched.service.slow_down = slow_down;
        int taken = 1;
        while (taken <= 60 && watched.watch(1) == 0) ++taken;
        if (taken > 60)
          ++missed;
        else
          minutes.push_back(taken);
      }
      const auto found = std::count_if(minutes.begin(), minutes.end(), [](double taken) { return taken <= 5; });
      const auto all = minutes.size() + static_cast<std::size_t>(missed);
      fmt::print("| {} | {:.0f} % | {:.1f} % | {:.0f} | {:.0f} | {} |\n", temper.name, (slow_down - 1) * 100,
                 100.0 * static_cast<double>(found) / static_cast<double>(all), stats::quantile(minutes, 0.5),
                 stats::quantile(minutes, 0.95), missed);
    }
}

}  // namespace

int main(int argc, char** argv) {
  const int weeks = argc > 1 ? std::atoi(argv[1]) : 20;
  const int cases = argc > 2 ? std::atoi(argv[2]) : 500;
  if (weeks < 1 || cases < 1) {
    fmt::print(stderr, "usage: watch_simulation [weeks a line] [slow-downs a line], both above 0\n");
    return 2;
  }
  false_alarms(weeks);
  detection(cases);
  return 0;
}
