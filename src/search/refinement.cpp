// SPDX-License-Identifier: Apache-2.0
#include "search/refinement.hpp"

#include <algorithm>
#include <cmath>

#include "search/messages.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;

/// Settings that interact change each other's effect by some per cent; worth as much as this many observations.
constexpr double kPriorError = 0.05;
constexpr double kPriorCount = 8;
/// Thread counts interact with most other settings.
constexpr double kThreadVarianceFactor = 4;
/// Changes whose effect was never seen alone.
constexpr double kUnknownVarianceFactor = 2;

}  // namespace

Refinement::Refinement(const SearchSpace& space, const std::vector<Factor>& factors, double min_effect)
    : space_(&space),
      factors_(&factors),
      min_effect_(min_effect),
      patience_(searches_gpu(space) ? kGpuPatience : kPatience),
      error_squares_(kPriorCount * kPriorError * kPriorError),
      error_count_(kPriorCount) {}

std::size_t Refinement::upcoming() const {
  return std::min(patience_ - std::min(without_gain_, patience_), kMost - std::min(steps_, kMost));
}

void Refinement::learn(const SearchHistory& history) {
  if (!awaited_) return;
  const auto* seen = history.find(awaited_->configuration);
  const auto* best = history.find(awaited_->best);
  std::optional<double> change;  // by what is known now of both
  if (seen != nullptr && seen->observation.cost && !seen->observation.stopped_early && best != nullptr &&
      best->observation.cost)
    change = std::log(*seen->observation.cost / *best->observation.cost);
  const bool gained = change && *change < std::log(1 - min_effect_ / 4);
  without_gain_ = gained ? 0 : without_gain_ + 1;
  if (change) {
    const double error = *change - awaited_->expected_change;
    error_squares_ += error * error;
    error_count_ += 1;
  }
  awaited_.reset();
}

std::optional<Step> Refinement::next(const SearchHistory& history) {
  learn(history);
  const auto* best = history.incumbent(min_effect_ / 2);
  if (best == nullptr || without_gain_ >= patience_ || steps_ >= kMost) return std::nullopt;
  for (const auto& candidate : plausible(history)) {
    const auto configuration = applied(candidate, best->configuration);
    if (!is_new(history, configuration)) continue;
    ++steps_;
    awaited_ = Awaited{configuration, best->configuration, candidate.expected};
    const auto& name = (*factors_)[candidate.first.factor].name;
    const auto second = candidate.second ? (*factors_)[candidate.second->factor].name : std::string();
    return Step{configuration, schema::TrialStage::search, messages::refining({.factor = name, .second = second}),
                min_effect_ / 2};
  }
  return std::nullopt;
}

std::vector<Configuration> Refinement::foreseen(const SearchHistory& history, std::size_t most) const {
  std::vector<Configuration> out;
  const auto* best = history.incumbent(min_effect_ / 2);
  most = std::min(most, upcoming());
  if (best == nullptr || most == 0) return out;
  for (const auto& candidate : plausible(history)) {
    auto configuration = applied(candidate, best->configuration);
    if (!is_new(history, configuration) || std::find(out.begin(), out.end(), configuration) != out.end()) continue;
    out.push_back(std::move(configuration));
    if (out.size() == most) break;
  }
  return out;
}

Configuration Refinement::applied(const Candidate& candidate, Configuration best) const {
  best = (*factors_)[candidate.first.factor].apply(*space_, best, candidate.first.level);
  if (!candidate.second) return best;
  return (*factors_)[candidate.second->factor].apply(*space_, best, candidate.second->level);
}

bool Refinement::is_new(const SearchHistory& history, const Configuration& configuration) const {
  return !history.proposed(configuration) && space_->allows(configuration);
}

/// Levels seen only in configurations that failed.
std::vector<std::vector<bool>> Refinement::hopeless_levels(const SearchHistory& history) const {
  std::vector<std::vector<bool>> hopeless;
  for (const auto& factor : *factors_) {
    std::vector<bool> failed(factor.levels.size(), false);
    std::vector<bool> worked(factor.levels.size(), false);
    for (const auto& seen : history.observed())
      if (const auto level = factor.level_of(seen.configuration))
        (seen.observation.cost ? worked : failed)[*level] = true;
    for (std::size_t level = 0; level < failed.size(); ++level) failed[level] = failed[level] && !worked[level];
    hopeless.push_back(std::move(failed));
  }
  return hopeless;
}

std::vector<Refinement::Change> Refinement::changes(const SearchHistory& history) const {
  const AdditiveModel model(*factors_, history);
  const auto hopeless = hopeless_levels(history);
  const auto& best = history.incumbent(min_effect_ / 2)->configuration;
  const double variance = error_squares_ / error_count_;
  std::vector<Change> found;
  for (std::size_t at = 0; at < factors_->size(); ++at) {
    const auto& factor = (*factors_)[at];
    const auto current = factor.level_of(best);
    for (std::size_t level = 0; level < factor.levels.size(); ++level) {
      if (level == current || hopeless[at][level]) continue;
      if (history.is_slow_tie(factor.apply(*space_, best, level), min_effect_ / 2)) continue;
      Change change{at, level, model.effect(at, level), variance};
      if (current) change.gain -= model.effect(at, *current);
      if (factor.is_threads) change.variance *= kThreadVarianceFactor;
      if (!model.known(at, level)) change.variance *= kUnknownVarianceFactor;
      found.push_back(change);
    }
  }
  return found;
}

std::vector<Refinement::Candidate> Refinement::plausible(const SearchHistory& history) const {
  const double worth = std::log(1 - min_effect_ / 2);
  const auto singles = changes(history);
  std::vector<Candidate> found;
  const auto add = [&](const Change& first, std::optional<Change> second) {
    const double expected = first.gain + (second ? second->gain : 0);
    const double bound = expected - std::sqrt(first.variance + (second ? second->variance : 0));
    if (bound < worth) found.push_back({bound, expected, first, second});
  };
  for (std::size_t i = 0; i < singles.size(); ++i) {
    add(singles[i], std::nullopt);
    for (std::size_t j = i + 1; j < singles.size(); ++j)
      if (singles[i].factor != singles[j].factor) add(singles[i], singles[j]);
  }
  // What is expected to gain comes before what might: where the machine is uneven, errors make many things possible.
  std::stable_sort(found.begin(), found.end(), [&](const Candidate& a, const Candidate& b) {
    const bool a_gains = a.expected < worth;
    const bool b_gains = b.expected < worth;
    return a_gains != b_gains ? a_gains : a_gains ? a.expected < b.expected : a.bound < b.bound;
  });
  return found;
}

}  // namespace ridgeline::search
