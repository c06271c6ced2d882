// SPDX-License-Identifier: Apache-2.0
#include "search/gpu_quick_searcher.hpp"

#include <algorithm>

#include "search/messages.hpp"
#include "search/quick_searcher.hpp"
#include "search/relevance.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;
using schema::TrialStage;

/// Losing trials end here: a quick answer needs no precise figure of what is 25 % slower.

}  // namespace

GpuQuickSearcher::GpuQuickSearcher(const SearchSpace& space, const SearcherOptions& options)
    : Strategy(space, options), factors_(make_factors(space, options.learned)) {
  for (std::size_t at = 0; at < factors_.size(); ++at)
    if (factors_[at].is_binding)
      for (const auto level : promising_bindings(factors_[at])) bindings_.push_back({at, level});
  for (const auto at : guessed_factors(factors_)) guesses_.push_back({at, guessed_level(factors_[at])});
}

Configuration GpuQuickSearcher::base() const {
  const auto* from = history().incumbent(options().min_effect / 2);
  return from != nullptr ? from->configuration : space().defaults();
}

std::optional<Proposal> GpuQuickSearcher::apply(const Guess& guess, const Configuration& from) {
  const auto& factor = factors_[guess.factor];
  auto proposal = history().offer(factor.apply(space(), from, guess.level), TrialStage::screening,
                                  messages::best_guess(factor.name));
  if (proposal) proposal->stop_above = history().hopeless_above(kRaceMargin);
  return proposal;
}

std::optional<Proposal> GpuQuickSearcher::apply_all_guesses(Configuration from) {
  for (const auto& guess : guesses_) from = factors_[guess.factor].apply(space(), from, guess.level);
  auto proposal = history().offer(from, TrialStage::screening, messages::best_guesses_together());
  if (proposal) proposal->stop_above = history().hopeless_above(kRaceMargin);
  return proposal;
}

std::optional<Proposal> GpuQuickSearcher::turn(const Guess& guess) {
  const auto from = base();
  const auto& factor = factors_[guess.factor];
  const bool has_it = factor.level_of(from) == guess.level;
  // Without fused biases channels-last convolutions may take seconds a session to search (MobileNetV3-L on an H200: 4
  // of the ten), and were 0.6 % faster at most.
  if (has_it && factor.keys.front() == "fuse_conv_bias") return std::nullopt;
  auto proposal = apply({guess.factor, has_it ? 0 : guess.level}, from);
  if (proposal && has_it) proposal->reason = messages::best_without(factor.name);
  return proposal;
}

std::optional<Proposal> GpuQuickSearcher::other_binding(bool graph) {
  const auto from = base();
  const auto found = std::find_if(bindings_.begin(), bindings_.end(), [&](const Guess& guess) {
    const auto& factor = factors_[guess.factor];
    return replays_graph(factor.levels[guess.level]) == graph && factor.level_of(from) != guess.level;
  });
  return found == bindings_.end() ? std::nullopt : apply(*found, from);
}

std::optional<Proposal> GpuQuickSearcher::take_step() {
  switch (step_) {
    case Step::opening: {
      step_ = Step::binding;
      if (bindings_.empty() || guesses_.empty()) return std::nullopt;
      const auto& [factor, level] = bindings_.front();
      return apply_all_guesses(factors_[factor].apply(space(), space().defaults(), level));
    }
    case Step::binding:
      step_ = Step::plain_binding;
      return bindings_.empty() ? std::nullopt : apply(bindings_.front(), space().defaults());
    case Step::plain_binding:
      step_ = Step::together;
      return replays_graph(base()) ? std::nullopt : other_binding(false);
    case Step::together: step_ = Step::guesses; return apply_all_guesses(base());
    case Step::guesses:
      if (guess_at_ < guesses_.size()) return turn(guesses_[guess_at_++]);
      step_ = Step::second_binding;
      return std::nullopt;
    case Step::second_binding: step_ = Step::done; return replays_graph(base()) ? other_binding(true) : std::nullopt;
    case Step::done: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Proposal> GpuQuickSearcher::next() {
  while (step_ != Step::done)
    if (auto proposal = take_step()) return proposal;
  return std::nullopt;
}

std::size_t GpuQuickSearcher::upcoming() const {
  const auto guesses = guesses_.size() - guess_at_;
  const std::size_t last = bindings_.size() > 1 ? 1 : 0;
  switch (step_) {
    case Step::opening: return guesses + last + 4;
    case Step::binding: return guesses + last + 3;
    case Step::plain_binding:
    case Step::together: return guesses + last + 1;
    case Step::guesses: return guesses + last;
    case Step::second_binding: return last;
    case Step::done: return 0;
  }
  return 0;
}

}  // namespace ridgeline::search
