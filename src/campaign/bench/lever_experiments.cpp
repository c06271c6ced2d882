// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/lever_experiments.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/bench_experiments.hpp"
#include "campaign/bench/lever_conditions.hpp"
#include "campaign/line_of.hpp"
#include "campaign/messages.hpp"
#include "schema/messages.hpp"
#include "search/lever_search.hpp"

namespace ridgeline::campaign {

using analysis::LossComparison;
using base::Result;
using schema::LeverPurpose;

namespace {

constexpr std::size_t kLeverRounds = 4;
constexpr std::size_t kScreeningRounds = 2;
constexpr int kFirstRepeat = 2000;    ///< TrainingTrialSpec::repeat, apart from that of the run's other trials
constexpr int kFirstTogether = 2100;  ///< likewise, of several levers at once
constexpr int kFirstCombined = 2200;  ///< likewise, of combinations that the search proposes
constexpr std::string_view kAdaptive = "adaptive";
constexpr int kComparedSteps = 20;    ///< whose losses are compared
constexpr double kLessMemory = 0.05;  ///< that is worth a note

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

int passes_of(const std::vector<const schema::TrainingLever*>& levers) {
  int passes = 1;
  for (const auto* lever : levers) passes *= lever->passes;
  return passes;
}

std::string label_of(const std::vector<const schema::TrainingLever*>& levers) {
  std::vector<std::string> names;
  for (const auto* lever : levers) names.push_back(lever_label(*lever));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

bool LeverExperiments::Tried::measures_memory() const {
  return std::any_of(levers.begin(), levers.end(),
                     [](const auto* lever) { return lever->purpose == LeverPurpose::memory; });
}

bool LeverExperiments::Tried::is_for_speed() const { return !measures_memory() && !is_offer(); }

bool LeverExperiments::Tried::is_offer() const {
  return std::any_of(levers.begin(), levers.end(),
                     [](const auto* lever) { return lever->purpose == LeverPurpose::offer; });
}

LeverExperiments::LeverExperiments(BenchTrials& trials, const BenchRequest& request, schema::BenchRun& run)
    : trials_(trials), request_(request), run_(run) {}

std::vector<LeverExperiments::Tried> LeverExperiments::possible(const schema::TrainingSettings& base) {
  std::vector<Tried> out{{}};
  std::map<LeverCondition, std::vector<std::string>> unmet;
  std::set<std::string> refused;
  for (const auto& lever : schema::training_levers()) {
    if (!is_asked_for(lever, request_)) continue;
    const std::string name(lever.name);
    if (const auto why = request_.refused_levers.find(name); why != request_.refused_levers.end()) {
      if (refused.insert(name).second)
        run_.notes.push_back(
            messages::bench_switch_without_effect({.setting = name, .reason = schema::messages::foreign(why->second)}));
      continue;
    }
    const auto condition = unmet_condition(lever, request_, base);
    if (condition == LeverCondition::met)
      out.push_back({.levers = {&lever}});
    else if (condition != LeverCondition::other_device)
      unmet[condition].push_back(condition == LeverCondition::torch
                                     ? fmt::format("{} ({})", lever_label(lever), lever.torch.since)
                                     : lever_label(lever));
  }
  for (auto& [condition, names] : unmet) run_.notes.push_back(unmet_note(condition, std::move(names)));
  return out;
}

Result<void> LeverExperiments::run(const schema::TrainingSettings& base) {
  auto all = possible(base);
  if (all.size() == 1) return {};
  RL_TRY(measure_rounds(all, base, kFirstRepeat));
  const auto helps = report(all, base);
  return request_.search == kAdaptive ? search_together(all, helps, base) : try_together(levers_of(helps), base);
}

Result<void> LeverExperiments::measure_rounds(std::vector<Tried>& all, const schema::TrainingSettings& base,
                                              int first) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t round = 0; round < kLeverRounds; ++round) {
    if (round == kScreeningRounds)
      for (auto& tried : all) tried.trails = !tried.levers.empty() && !leads(tried, all.front());
    if (round >= kScreeningRounds &&
        std::all_of(all.begin() + 1, all.end(), [](const auto& one) { return one.trails; }))
      break;
    for (const auto at : order)
      if (!trials_.budget().is_used_up() && all[at].problem.empty() && !all[at].trails)
        RL_TRY(measure(all[at], base, first + static_cast<int>(round)));
    std::reverse(order.begin(), order.end());
  }
  return {};
}

bool LeverExperiments::leads(const Tried& tried, const Tried& without) {
  if (tried.rates.empty() || without.rates.empty() || !tried.problem.empty()) return false;
  const bool separate = *std::min_element(tried.rates.begin(), tried.rates.end()) >
                        *std::max_element(without.rates.begin(), without.rates.end());
  return separate && mean(tried.rates) / mean(without.rates) - 1 >= analysis::kWorthwhileGain;
}

Result<void> LeverExperiments::measure(Tried& tried, const schema::TrainingSettings& base, int round) {
  auto settings = base;
  const int passes = passes_of(tried.levers);
  settings.batch = base.batch / passes;
  std::map<std::string, std::string> options{{"ridgeline_losses", std::to_string(kComparedSteps * passes)}};
  for (const auto* lever : tried.levers) options[schema::lever_option(lever->name)] = std::string(lever->value);
  RL_TRY_ASSIGN(const auto outcome, trials_.measure_aside(settings, options, round));
  if (outcome.measurement) {
    const auto& measured = *outcome.measurement;
    tried.rates.push_back(measured.samples_per_s.value);
    if (measured.resources.peak_reserved_gb) tried.memory_gb.push_back(*measured.resources.peak_reserved_gb);
    if (auto curve = analysis::loss_curve(measured, passes)) tried.curves.push_back(std::move(*curve));
    tried.remarks.clear();
    for (const auto& flag : measured.flags)
      if (flag.code.rfind("lever_", 0) == 0) tried.remarks.push_back(flag.message);
  } else if (outcome.failure) {
    tried.problem = outcome.failure->message;
    tried.has_no_effect = outcome.status == schema::TrialStatus::invalid;
  }
  return {};
}

LossComparison LeverExperiments::compare(const Tried& tried, const Tried& without,
                                         const schema::TrainingSettings& base) {
  const bool rounds = base.amp != schema::AmpMode::off || std::any_of(tried.levers.begin(), tried.levers.end(),
                                                                      [](const auto* one) { return one->rounds; });
  return analysis::compare_losses(without.curves, tried.curves,
                                  rounds ? analysis::kShortRounding : analysis::kFp32Rounding);
}

bool LeverExperiments::note_other_losses(const Tried& tried, double gain, const LossComparison& losses) {
  using Verdict = LossComparison::Verdict;
  const auto lever = label_of(tried.levers);
  switch (losses.verdict) {
    case Verdict::same: return false;
    case Verdict::differs:
      run_.notes.push_back(messages::bench_lever_losses_differ({.lever = lever,
                                                                .gain = gain,
                                                                .steps = losses.steps,
                                                                .difference = losses.difference,
                                                                .allowed = losses.allowed}));
      return true;
    case Verdict::lost:
      run_.notes.push_back(
          messages::bench_lever_loss_lost({.lever = lever, .gain = gain, .step = losses.lost_at_step}));
      return true;
    case Verdict::lost_without:
      run_.notes.push_back(messages::bench_lever_lost_without({.lever = lever, .gain = gain}));
      return true;
    case Verdict::unknown:
      run_.notes.push_back(messages::bench_lever_losses_unknown({.lever = lever, .gain = gain}));
      return true;
  }
  return true;
}

void LeverExperiments::add_finding(std::string code, schema::Message title, const Tried& tried, const Tried& without,
                                   const schema::TrainingSettings& base) {
  const auto losses = compare(tried, without, base);
  std::vector<schema::Message> evidence{
      messages::bench_switch_evidence(
          {.base = schema::describe(base, run_.device), .with = tried.rates, .without = without.rates}),
      messages::bench_lever_same_losses(
          {.steps = losses.steps, .difference = losses.difference, .allowed = losses.allowed})};
  evidence.insert(evidence.end(), tried.remarks.begin(), tried.remarks.end());
  std::vector<std::string> settings;
  std::vector<std::string> flags;
  for (const auto* lever : tried.levers) {
    settings.push_back(fmt::format("{}: {}", lever->name, lever->value));
    flags.push_back(fmt::format("--lever {}={}", lever->name, lever->value));
  }
  schema::BenchFinding finding;
  finding.code = std::move(code);
  finding.title = std::move(title);
  finding.evidence = schema::messages::several(evidence);
  finding.advice =
      messages::bench_lever_advice({.settings = settings, .flags = fmt::format("{}", fmt::join(flags, " "))});
  finding.predicted_gain = mean(tried.rates) / mean(without.rates) - 1;
  finding.settings = base;
  run_.findings.push_back(std::move(finding));
}

void LeverExperiments::report_offers(const std::vector<Tried>& all) {
  const auto& without = all.front();
  double fastest = mean(without.rates);
  const auto memory_of = [](const Tried& one) {
    return one.memory_gb.empty() ? std::optional<double>()
                                 : *std::max_element(one.memory_gb.begin(), one.memory_gb.end());
  };
  const auto memory_before = memory_of(without);
  auto least = memory_before;
  // The catalogue has the least change first.
  for (auto at = all.begin() + 1; at != all.end(); ++at) {
    const double rate = mean(at->rates);
    const auto memory = memory_of(*at);
    const bool is_faster = rate > fastest * (1 + analysis::kWorthwhileGain);
    const bool is_smaller = memory && least && *memory < *least * (1 - kLessMemory);
    if (!is_faster && !is_smaller) {
      run_.notes.push_back(
          messages::bench_switch_no_gain({.settings = {label_of(at->levers)}, .least = analysis::kWorthwhileGain}));
      continue;
    }
    fastest = std::max(fastest, rate);
    if (memory) least = least ? std::min(*least, *memory) : *memory;
    run_.notes.push_back(
        messages::bench_lever_offer({.lever = label_of(at->levers),
                                     .rate = rate,
                                     .before = mean(without.rates),
                                     .gain = rate / mean(without.rates) - 1,
                                     .memory_gb = memory,
                                     .memory_before_gb = memory ? memory_before : std::nullopt,
                                     .what = at->remarks.empty() ? schema::Message() : at->remarks.front()}));
  }
}

void LeverExperiments::report_memory(const Tried& tried, const Tried& without, const schema::TrainingSettings& base) {
  if (tried.memory_gb.empty() || without.memory_gb.empty()) return;
  const auto losses = compare(tried, without, base);
  const double gain = mean(tried.rates) / mean(without.rates) - 1;
  const double before = *std::max_element(without.memory_gb.begin(), without.memory_gb.end());
  const double after = *std::max_element(tried.memory_gb.begin(), tried.memory_gb.end());
  const auto lever = label_of(tried.levers);
  if (after > before * (1 - kLessMemory)) {
    run_.notes.push_back(messages::bench_lever_no_memory({.lever = lever, .after = after, .before = before}));
  } else if (!note_other_losses(tried, gain, losses)) {
    auto note = messages::bench_lever_memory({.lever = lever,
                                              .batch = base.batch / passes_of(tried.levers),
                                              .effective = base.batch,
                                              .after = after,
                                              .before = before,
                                              .gain = gain});
    run_.notes.push_back(tried.remarks.empty() ? std::move(note)
                                               : schema::messages::several({std::move(note), tried.remarks.front()}));
  }
}

std::vector<const LeverExperiments::Tried*> LeverExperiments::report(const std::vector<Tried>& all,
                                                                     const schema::TrainingSettings& base) {
  const auto& without = all.front();
  std::vector<std::string> no_gain;
  std::vector<Tried> offers{without};
  std::vector<std::string> untried;
  std::vector<const Tried*> helps;
  for (const auto& tried : all) {
    if (tried.levers.empty()) continue;
    const auto label = label_of(tried.levers);
    const bool is_led = !tried.trails && leads(tried, without);
    if (!tried.problem.empty() && tried.has_no_effect) {
      run_.notes.push_back(messages::bench_switch_without_effect({.setting = label, .reason = tried.problem}));
    } else if (!tried.problem.empty()) {
      run_.notes.push_back(messages::bench_switch_failed({.setting = label, .reason = tried.problem}));
    } else if (tried.rates.size() < (tried.trails ? kScreeningRounds : kLeverRounds)) {
      untried.push_back(label);
    } else if (tried.is_offer()) {
      offers.push_back(tried);
    } else if (is_led) {
      const double gain = mean(tried.rates) / mean(without.rates) - 1;
      if (!note_other_losses(tried, gain, compare(tried, without, base))) helps.push_back(&tried);
    } else if (tried.measures_memory()) {
      report_memory(tried, without, base);
    } else {
      no_gain.push_back(label);
    }
  }
  report_offers(offers);
  if (!no_gain.empty())
    run_.notes.push_back(messages::bench_switch_no_gain({.settings = no_gain, .least = analysis::kWorthwhileGain}));
  if (!untried.empty())
    run_.notes.push_back(messages::bench_switch_untried({.settings = untried, .reason = messages::max_time_used_up()}));
  std::stable_sort(helps.begin(), helps.end(),
                   [](const auto* a, const auto* b) { return mean(a->rates) > mean(b->rates); });
  std::vector<const Tried*> best;
  for (const auto* tried : helps) {
    const auto name = tried->levers.front()->name;
    if (std::none_of(best.begin(), best.end(), [&](const auto* one) { return one->levers.front()->name == name; }))
      best.push_back(tried);
  }
  for (const auto* tried : best) {
    const std::string name(tried->levers.front()->name);
    add_finding(name, messages::bench_switch_helps(name), *tried, without, base);
  }
  return best;
}

LeverExperiments::Levers LeverExperiments::levers_of(const std::vector<const Tried*>& helps) {
  Levers levers;
  for (const auto* tried : helps) {
    const auto* lever = tried->levers.front();
    if (std::none_of(levers.begin(), levers.end(), [&](const auto* one) { return exclude_each_other(*one, *lever); }))
      levers.push_back(lever);
  }
  return levers;
}

Result<void> LeverExperiments::search_together(const std::vector<Tried>& all, const std::vector<const Tried*>& helps,
                                               const schema::TrainingSettings& base) {
  if (helps.empty()) return {};
  std::vector<const Tried*> alone;
  for (const auto& tried : all)
    if (!tried.levers.empty() && tried.is_for_speed() && !tried.rates.empty() &&
        compare(tried, all.front(), base).verdict == LossComparison::Verdict::same)
      alone.push_back(&tried);
  const auto lever = [&](std::size_t at) { return alone[at]->levers.front(); };
  search::LeverSearch search(
      alone.size(), [&](std::size_t one, std::size_t other) { return exclude_each_other(*lever(one), *lever(other)); });
  search.observe({}, mean(all.front().rates));
  for (std::size_t at = 0; at < alone.size(); ++at) search.observe({at}, mean(alone[at]->rates));
  const auto levers_at = [&](const search::LeverSearch::Combination& combination) {
    Levers levers;
    for (const auto at : combination) levers.push_back(lever(at));
    return levers;
  };
  while (const auto next = search.propose()) {
    Tried tried{.levers = levers_at(*next)};
    for (std::size_t round = 0; round < kScreeningRounds && tried.problem.empty(); ++round)
      if (!trials_.budget().is_used_up()) RL_TRY(measure(tried, base, kFirstCombined + static_cast<int>(round)));
    if (trials_.budget().is_used_up() && tried.rates.size() < kScreeningRounds) break;
    const bool same =
        tried.problem.empty() && compare(tried, all.front(), base).verdict == LossComparison::Verdict::same;
    search.observe(*next, same ? std::optional(mean(tried.rates)) : std::nullopt);
  }
  const auto best = search.best();
  // What helps one by one has an answer of its own, also if no combination is faster.
  return try_together(best.size() > 1 ? levers_at(best) : levers_of(helps), base);
}

Result<void> LeverExperiments::try_together(const Levers& levers, const schema::TrainingSettings& base) {
  if (levers.size() < 2 || trials_.budget().is_used_up()) return {};
  std::vector<Tried> pair{{}, {.levers = levers}};
  RL_TRY(measure_rounds(pair, base, kFirstTogether));
  const auto& together = pair.back();
  const auto label = label_of(levers);
  if (!together.problem.empty()) {
    run_.notes.push_back(messages::bench_switch_failed({.setting = label, .reason = together.problem}));
  } else if (together.trails || together.rates.size() < kLeverRounds || !leads(together, pair.front())) {
    run_.notes.push_back(messages::bench_levers_not_together({.levers = label}));
  } else {
    const double gain = mean(together.rates) / mean(pair.front().rates) - 1;
    if (!note_other_losses(together, gain, compare(together, pair.front(), base)))
      add_finding("levers_together", messages::bench_levers_together(label), together, pair.front(), base);
  }
  return {};
}

}  // namespace ridgeline::campaign
