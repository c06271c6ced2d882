// SPDX-License-Identifier: Apache-2.0
#include "stream/load_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/random.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

constexpr double kMostArrivals = 1e9;
constexpr double kMostVariation = 20;  // gaps of 10^-300 and the like come up beyond

double exponential(base::Random& random) { return -std::log(1 - random.uniform()); }

/// Gamma-distributed with mean 1 and that shape in (0, 1]: Marsaglia and Tsang 2000, for shape + 1, then moved down.
double gamma(base::Random& random, double shape) {
  const double d = shape + 1 - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    const double u = 1 - random.uniform();
    if (std::log(u) >= 0.5 * x * x + d - d * v + d * std::log(v)) continue;
    return d * v * std::pow(1 - random.uniform(), 1 / shape) / shape;
  }
}

base::Result<void> check_load(const SourceLoad& load, std::int64_t duration_ns) {
  if (load.process == ArrivalProcess::trace) {
    if (!std::is_sorted(load.times_ns.begin(), load.times_ns.end()) ||
        (!load.times_ns.empty() && load.times_ns.front() < 0))
      return fail(ErrorCode::invalid_argument, "the times of a trace go back, or are below 0");
    return {};
  }
  if (!(load.rate_per_s > 0) || !(load.rate_per_s * static_cast<double>(duration_ns) * 1e-9 <= kMostArrivals))
    return fail(ErrorCode::invalid_argument, "a rate of {} frames/s: expected above 0, at most 10^9 frames in all",
                load.rate_per_s);
  if (!(load.jitter >= 0 && load.jitter <= 1))
    return fail(ErrorCode::invalid_argument, "a jitter of {} is outside 0..1", load.jitter);
  if (!(load.variation >= 1 && load.variation <= kMostVariation))
    return fail(ErrorCode::invalid_argument, "a variation of {} is outside 1..{}", load.variation, kMostVariation);
  return {};
}

/// Calls `add(time in intervals)` until it says that the run is over.
template <typename Add>
void generate(const SourceLoad& load, base::Random& random, Add add) {
  double at = 0;
  switch (load.process) {
    case ArrivalProcess::fixed:
      for (at = random.uniform(); add(std::max(0.0, at + load.jitter * (random.uniform() - 0.5))); ++at) {
      }
      return;
    case ArrivalProcess::poisson:
      for (at = exponential(random); add(at); at += exponential(random)) {
      }
      return;
    case ArrivalProcess::burst: {
      const double shape = 1 / (load.variation * load.variation);
      for (at = gamma(random, shape); add(at); at += gamma(random, shape)) {
      }
      return;
    }
    case ArrivalProcess::trace: return;
  }
}

}  // namespace

base::Result<std::vector<Arrival>> make_schedule(const std::vector<SourceLoad>& sources, std::int64_t duration_ns,
                                                 std::uint64_t seed) {
  std::vector<Arrival> arrivals;
  base::Random seeds(seed);
  for (std::uint32_t source = 0; source < sources.size(); ++source) {
    const auto& load = sources[source];
    RL_TRY(check_load(load, duration_ns));
    base::Random random(seeds.next());
    std::uint64_t sequence = 0;
    const auto add = [&](std::int64_t at_ns) {
      if (at_ns >= duration_ns) return false;
      arrivals.push_back({at_ns, source, sequence++});
      return true;
    };
    for (const auto at_ns : load.times_ns)
      if (load.process != ArrivalProcess::trace || !add(at_ns)) break;
    const double interval_ns = 1e9 / load.rate_per_s;
    generate(load, random, [&](double at) { return add(static_cast<std::int64_t>(at * interval_ns)); });
  }
  std::sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
    return std::tie(a.at_ns, a.source, a.sequence) < std::tie(b.at_ns, b.source, b.sequence);
  });
  return arrivals;
}

}  // namespace ridgeline::stream
