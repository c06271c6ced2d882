// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/switch_experiments.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/bench_experiments.hpp"
#include "campaign/messages.hpp"

namespace ridgeline::campaign {

using base::Result;

namespace {

constexpr std::size_t kSwitchRounds = 4;
constexpr std::size_t kScreeningRounds = 2;
constexpr int kFirstRepeat = 2000;  ///< TrainingTrialSpec::repeat, apart from that of the run's other trials

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool needs_workers(const std::string& name) { return name == "prefetch_factor" || name == "persistent_workers"; }

}  // namespace

std::string switch_value(const std::string& name) {
  if (name == "prefetch_factor") return "4";
  return name == "torch_compile" ? "default" : "true";
}

SwitchExperiments::SwitchExperiments(BenchTrials& trials, const BenchRequest& request, schema::BenchRun& run)
    : trials_(trials), request_(request), run_(run) {}

Result<void> SwitchExperiments::run(const schema::TrainingSettings& base) {
  std::vector<Tried> all{{}};
  for (const auto& name : request_.switches)
    if (base.workers > 0 || !needs_workers(name)) all.push_back({name, {}, {}});
  if (all.size() == 1) return {};
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t round = 0; round < kSwitchRounds; ++round) {
    if (round == kScreeningRounds)
      for (auto& tried : all) tried.trails = !tried.name.empty() && !leads(tried, all.front());
    if (round >= kScreeningRounds &&
        std::all_of(all.begin() + 1, all.end(), [](const auto& one) { return one.trails; }))
      break;
    for (const auto at : order)
      if (!trials_.budget().is_used_up() && all[at].problem.empty() && !all[at].trails)
        RL_TRY(measure(all[at], base, static_cast<int>(round)));
    std::reverse(order.begin(), order.end());
  }
  report(all, base);
  return {};
}

bool SwitchExperiments::leads(const Tried& tried, const Tried& without) {
  if (tried.rates.empty() || without.rates.empty()) return false;
  const bool separate = *std::min_element(tried.rates.begin(), tried.rates.end()) >
                        *std::max_element(without.rates.begin(), without.rates.end());
  return separate && mean(tried.rates) / mean(without.rates) - 1 >= analysis::kWorthwhileGain;
}

Result<void> SwitchExperiments::measure(Tried& tried, const schema::TrainingSettings& base, int round) {
  std::map<std::string, std::string> options;
  if (!tried.name.empty()) options[tried.name] = switch_value(tried.name);
  RL_TRY_ASSIGN(const auto outcome, trials_.measure_aside(base, options, kFirstRepeat + round));
  if (outcome.measurement)
    tried.rates.push_back(outcome.measurement->samples_per_s.value);
  else if (outcome.failure)
    tried.problem = outcome.failure->message;
  return {};
}

void SwitchExperiments::report(const std::vector<Tried>& all, const schema::TrainingSettings& base) {
  const auto& without = all.front().rates;
  std::vector<std::string> no_gain;
  std::vector<std::string> untried;
  for (const auto& tried : all) {
    if (tried.name.empty()) continue;
    if (!tried.problem.empty()) {
      run_.notes.push_back(messages::bench_switch_failed({.setting = tried.name, .reason = tried.problem}));
    } else if (tried.rates.size() < (tried.trails ? kScreeningRounds : kSwitchRounds)) {
      untried.push_back(tried.name);
    } else if (tried.trails || !leads(tried, all.front())) {
      no_gain.push_back(tried.name);
    } else {
      schema::BenchFinding finding;
      finding.code = tried.name;
      finding.title = messages::bench_switch_helps(tried.name);
      finding.evidence = messages::bench_switch_evidence(
          {.base = schema::describe(base, run_.device), .with = tried.rates, .without = without});
      finding.advice = messages::bench_switch_advice({.setting = tried.name, .value = switch_value(tried.name)});
      finding.predicted_gain = mean(tried.rates) / mean(without) - 1;
      finding.settings = base;
      run_.findings.push_back(std::move(finding));
    }
  }
  if (!no_gain.empty())
    run_.notes.push_back(messages::bench_switch_no_gain({.settings = no_gain, .least = analysis::kWorthwhileGain}));
  if (!untried.empty())
    run_.notes.push_back(messages::bench_switch_untried({.settings = untried, .reason = messages::max_time_used_up()}));
}

}  // namespace ridgeline::campaign
