// SPDX-License-Identifier: Apache-2.0
#include "search/screening.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "search/messages.hpp"
#include "search/relevance.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;

constexpr std::size_t kFullThreadSweep = 10;  ///< joint levels up to which all are tried
constexpr double kModeInReach = 1.25;  ///< parallel mode this much slower is still tried with other thread counts
constexpr int kRescueDraws = 20;

bool is_swept_whole(const Factor& factor) { return factor.is_threads || factor.name == "batch_size"; }

}  // namespace

Screening::Screening(const SearchSpace& space, const std::vector<Factor>& factors, double min_effect,
                     std::uint64_t seed)
    : space_(&space), factors_(&factors), min_effect_(min_effect), random_(seed) {
  for (std::size_t at = 0; at < factors.size(); ++at) {
    if (factors[at].name != "parallel_sessions" && factors[at].name != "prefer_nhwc") continue;
    bindings_again_after_ = at;
    ++bindings_again_;
  }
}

std::optional<Step> Screening::next(const SearchHistory& history) {
  while (queue_.empty())
    if (!plan(history)) return std::nullopt;
  return next_planned();
}

std::optional<Step> Screening::next_planned() {
  if (queue_.empty()) return std::nullopt;
  auto step = std::move(queue_.front());
  queue_.pop_front();
  return step;
}

std::size_t Screening::upcoming() const {
  std::size_t count = queue_.size() + (extras_ == 0 ? 1 : 0);
  for (auto at = factor_at_ + (part_ == Part::open ? 0 : 1); at < factors_->size(); ++at)
    count += (*factors_)[at].levels.size() - 1;
  return count;
}

bool Screening::plan(const SearchHistory& history) {
  if (factor_at_ < factors_->size()) {
    if (part_ == Part::open) {
      open_factor(history);
      part_ = Part::rest;
    } else if (part_ == Part::rest) {
      if (!plan_around_best_threads(history)) {
        plan_rest(history);
        part_ = Part::close;
      }
    } else {
      close_factor(history);
      ++factor_at_;
      part_ = Part::open;
    }
    return true;
  }
  if (extras_++ > 0) return false;
  if (history.best() != nullptr)
    plan_combination(history);
  else
    plan_rescue();
  return true;
}

void Screening::push(const Configuration& configuration, schema::Message reason) {
  queue_.push_back({configuration, schema::TrialStage::screening, std::move(reason)});
}

void Screening::open_factor(const SearchHistory& history) {
  climbed_from_.reset();
  if (factor_at_ == 0) base_ = space_->defaults();
  const auto* best = history.best();
  // The base moves only for a gain that matters, so that ties stay with the simpler configuration.
  const auto cost = base_cost(history);
  if (best != nullptr && (!cost || *best->observation.cost < *cost * (1 - min_effect_ / 4))) {
    base_ = best->configuration;
    has_base_ = true;
  }
  // A tie that is much quicker to set up makes every later trial shorter.
  if (const auto* quicker = history.incumbent(min_effect_ / 2); quicker != nullptr && quicker != best) {
    base_ = quicker->configuration;
    has_base_ = true;
  }
  for (const auto level : first_levels())
    push(factor().apply(*space_, base_, level), messages::screening(factor().name));
}

std::vector<std::size_t> Screening::first_levels() const {
  if (factor().inner > 1 && factor().is_threads && factor().levels.size() > kFullThreadSweep)
    return widest_thread_levels();
  if (factor().is_binding) {
    auto levels = bindings(true);
    return levels.empty() ? bindings(false) : levels;
  }
  std::vector<std::size_t> levels;
  const auto at_base = factor().level_of(base_);
  for (std::size_t level = 0; level < factor().levels.size(); ++level)
    if (level != at_base) levels.push_back(level);
  if (factor().ordered && !is_swept_whole(factor()) && levels.size() >= 3) return {levels[levels.size() / 2]};
  return levels;
}

std::vector<std::size_t> Screening::bindings(bool with_graph) const {
  auto levels = promising_bindings(factor());
  std::erase_if(levels, [&](std::size_t level) { return replays_graph(factor().levels[level]) != with_graph; });
  return levels;
}

/// For each number of sessions the two largest thread counts that are allowed: they keep the machine busy.
std::vector<std::size_t> Screening::widest_thread_levels() const {
  std::vector<std::size_t> picked;
  const auto inner = factor().inner;
  const auto outer = factor().levels.size() / inner;
  for (std::size_t sessions = 0; sessions < inner; ++sessions) {
    int found = 0;
    for (std::size_t threads = outer; threads-- > 0 && found < 2;) {
      const auto level = threads * inner + sessions;
      if (!space_->allows(factor().apply(*space_, base_, level))) continue;
      picked.push_back(level);
      ++found;
    }
  }
  return picked;
}

/// Joint threads: climbs from the best pair to its neighbours until that no longer moves. True when steps were planned.
bool Screening::plan_around_best_threads(const SearchHistory& history) {
  if (factor().inner <= 1 || !factor().is_threads || factor().levels.size() <= kFullThreadSweep) return false;
  const auto best = best_level(history);
  if (!best || best == climbed_from_) return false;
  climbed_from_ = best;
  const auto inner = static_cast<int>(factor().inner);
  const auto outer = static_cast<int>(factor().levels.size()) / inner;
  const int threads = static_cast<int>(*best) / inner;
  const int sessions = static_cast<int>(*best) % inner;
  for (int t = std::max(threads - 1, 0); t <= std::min(threads + 1, outer - 1); ++t)
    for (int s = std::max(sessions - 1, 0); s <= std::min(sessions + 1, inner - 1); ++s)
      push(factor().apply(*space_, base_, static_cast<std::size_t>(t * inner + s)), messages::near_best(factor().name));
  return true;
}

void Screening::plan_rest(const SearchHistory& history) {
  if (factor().keys.front() == "execution_mode") plan_threads_in_parallel_mode(history);
  if (factor().is_binding) plan_plain_bindings(history);
  if (factor_at_ == bindings_again_after_) plan_other_bindings(history);
  if (!factor().ordered || is_swept_whole(factor())) return;
  const auto best = best_level(history);
  const auto cost = base_cost(history);
  if (!best || !cost || *cost_at(*best, history) > *cost * (1 - min_effect_ / 4)) return;
  for (std::size_t level = 0; level < factor().levels.size(); ++level)
    push(factor().apply(*space_, base_, level), messages::screening(factor().name));
}

/// Operators side by side want fewer threads each, so a parallel mode that comes near is tried with other counts.
void Screening::plan_threads_in_parallel_mode(const SearchHistory& history) {
  const auto best = best_level(history);
  const auto cost = base_cost(history);
  if (!best || !cost || *cost_at(*best, history) > *cost * kModeInReach) return;
  const auto parallel = factor().apply(*space_, base_, *best);
  for (const auto& threads : *factors_) {
    if (!threads.is_threads) continue;
    const auto at = threads.level_of(parallel);
    if (!at) continue;
    for (std::size_t level = 0; level < threads.levels.size(); ++level)
      if (std::abs(static_cast<int>(level) - static_cast<int>(*at)) <= 2)
        push(threads.apply(*space_, parallel, level), messages::threads_in_parallel_mode());
  }
}

/// A graph replays the same kernels without their launches: where it gains, a binding without one is no better.
void Screening::plan_plain_bindings(const SearchHistory& history) {
  const auto* best = history.best();
  const auto cost = base_cost(history);
  if (best != nullptr && replays_graph(best->configuration) &&
      (replays_graph(base_) || !cost || *best->observation.cost < *cost * (1 - min_effect_))) {
    graph_gains_ = true;
    return;
  }
  for (const auto level : bindings(false))
    push(factor().apply(*space_, base_, level), messages::screening(factor().name));
}

/// The quickest way to most of the gain: whatever is wrong with it shows when each factor is turned back.
void Screening::plan_guesses(const SearchHistory& history) {
  const auto* best = history.incumbent(min_effect_ / 2);
  if (best == nullptr) return;
  auto together = best->configuration;
  for (const auto at : guessed_factors(*factors_))
    together = (*factors_)[at].apply(*space_, together, guessed_level((*factors_)[at]));
  push(together, messages::best_guesses_together());
}

/// What a binding or a graph gains depends on what else fills the GPU, so the next best ones get a second chance.
void Screening::plan_other_bindings(const SearchHistory& history) {
  const auto binding =
      std::find_if(factors_->begin(), factors_->end(), [](const Factor& one) { return one.is_binding; });
  const auto* best = history.incumbent(min_effect_ / 2);
  if (binding == factors_->end() || best == nullptr) return;
  std::vector<std::pair<double, std::size_t>> by_cost;  // those that were not tried last, the most promising first
  for (const auto level : promising_bindings(*binding)) {
    if (binding->level_of(best->configuration) == level) continue;
    if (graph_gains_ && !replays_graph(binding->levels[level])) continue;
    bool tried = false;
    double cheapest = HUGE_VAL;
    for (const auto& seen : history.observed()) {
      if (binding->level_of(seen.configuration) != level) continue;
      tried = true;
      cheapest = std::min(cheapest, seen.observation.cost.value_or(HUGE_VAL));
    }
    if (!tried || cheapest < HUGE_VAL) by_cost.emplace_back(cheapest, level);
  }
  std::stable_sort(by_cost.begin(), by_cost.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t at = 0; at < std::min(bindings_again_, by_cost.size()); ++at)
    push(binding->apply(*space_, best->configuration, by_cost[at].second),
         messages::binding_beside({.binding = binding->name, .factor = factor().name}));
}

/// By what is known of it now.
std::optional<double> Screening::base_cost(const SearchHistory& history) const {
  const auto* seen = has_base_ ? history.find(base_) : nullptr;
  return seen == nullptr ? std::nullopt : seen->observation.cost;
}

std::optional<double> Screening::cost_at(std::size_t level, const SearchHistory& history) const {
  const auto* seen = history.find(factor().apply(*space_, base_, level));
  if (seen == nullptr || seen->observation.stopped_early) return std::nullopt;
  return seen->observation.cost;
}

/// Of the levels tried on the base, other than the base's own.
std::optional<std::size_t> Screening::best_level(const SearchHistory& history) const {
  std::optional<std::size_t> best;
  const auto at_base = factor().level_of(base_);
  for (std::size_t level = 0; level < factor().levels.size(); ++level) {
    const auto cost = level == at_base ? std::nullopt : cost_at(level, history);
    if (cost && (!best || *cost < *cost_at(*best, history))) best = level;
  }
  return best;
}

void Screening::close_factor(const SearchHistory& history) {
  if (factor().is_binding) {
    plan_guesses(history);  // all that follows builds on the best binding, which needs no combining
    return;
  }
  const auto best = best_level(history);
  const auto cost = base_cost(history);
  if (best && cost && *cost_at(*best, history) < *cost * (1 - min_effect_ / 8))
    helpful_.emplace_back(factor_at_, *best);
}

void Screening::plan_combination(const SearchHistory& history) {
  auto combined = history.incumbent(min_effect_ / 2)->configuration;
  for (const auto& [at, level] : helpful_) combined = (*factors_)[at].apply(*space_, combined, level);
  queue_.push_back({combined, schema::TrialStage::search, messages::what_helped_combined()});
}

void Screening::plan_rescue() {
  for (int draw = 0; draw < kRescueDraws; ++draw)
    queue_.push_back({space_->sample(random_), schema::TrialStage::search, messages::drawn_as_nothing_worked()});
}

}  // namespace ridgeline::search
