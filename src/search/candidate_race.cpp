// SPDX-License-Identifier: Apache-2.0
#include "search/candidate_race.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "schema/candidate.hpp"
#include "search/messages.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;

/// What a candidate may be behind the leader after each heat: settings rarely make up for a factor of two, and once
/// some were tried the rest brings less and less.
constexpr std::array kReach{2.0, 1.3, 1.1};
/// The same within a family: a file that is slower by more than trials scatter stays so.
constexpr double kFamilyReach = 1.1;
constexpr std::size_t kFirstHeat = 4;  // trials of each after the start, doubled from heat to heat

}  // namespace

std::optional<double> CandidateRace::Lane::best() const {
  std::optional<double> least;
  for (const auto& [configuration, cost] : costs)
    if (!least || cost < *least) least = cost;
  return least;
}

CandidateRace::CandidateRace(std::vector<Racer> racers) {
  for (auto& racer : racers) lanes_.emplace_back().racer = std::move(racer);
}

CandidateRace::Lane& CandidateRace::lane_of(const Configuration& configuration) {
  const auto id = schema::candidate_of(configuration);
  const auto found = std::find_if(lanes_.begin(), lanes_.end(), [&](const auto& lane) { return lane.racer.id == id; });
  return found == lanes_.end() ? lanes_.front() : *found;
}

std::size_t CandidateRace::heat_size() const noexcept {
  return heat_ == 0 ? 1 : kFirstHeat << static_cast<unsigned>(heat_ - 1);
}

std::optional<Proposal> CandidateRace::propose() {
  for (;;) {
    for (; at_ < lanes_.size(); ++at_) {
      auto& lane = lanes_[at_];
      if (!lane.in_race() || (heat_ == 0 ? lane.has_started() : lane.heat >= heat_size())) continue;
      auto proposal = lane.racer.searcher->propose();
      if (!proposal) {
        lane.finished = true;
        continue;
      }
      ++lane.heat;
      if (!lane.racer.id.empty()) proposal->configuration.set(std::string(schema::kCandidateKey), lane.racer.id);
      if (heat_ == 0) proposal->stop_above.reset();  // the table of candidates wants its time
      return proposal;
    }
    if (std::none_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane.in_race(); }))
      return std::nullopt;
    end_heat();
  }
}

void CandidateRace::observe(const Proposal& proposal, const Observation& observation) {
  auto& lane = lane_of(proposal.configuration);
  auto own = proposal;
  own.configuration = schema::without_candidate(proposal.configuration);
  if (observation.cost) lane.costs[own.configuration] = *observation.cost;
  lane.racer.searcher->observe(own, observation);
}

void CandidateRace::revise(const Configuration& configuration, const Observation& observation) {
  auto& lane = lane_of(configuration);
  const auto own = schema::without_candidate(configuration);
  if (observation.cost && lane.costs.count(own) != 0) lane.costs[own] = *observation.cost;
  lane.racer.searcher->revise(own, observation);
}

template <typename Counts>
std::optional<double> CandidateRace::leader(Counts counts) const {
  std::optional<double> least;
  for (const auto& lane : lanes_)
    if (const auto best = lane.best(); best && counts(lane) && (!least || *best < *least)) least = best;
  return least;
}

void CandidateRace::end_heat() {
  const auto overall = leader([](const Lane&) { return true; });
  const double reach = kReach[std::min<std::size_t>(static_cast<std::size_t>(heat_), kReach.size() - 1)];
  for (auto& lane : lanes_) {
    if (!lane.in_race()) continue;
    const auto best = lane.best();
    const auto& family = lane.racer.family;
    const auto relative =
        family.empty() ? best : leader([&](const Lane& other) { return other.racer.family == family; });
    // What the user has now may fail for its own settings, and its search goes on to the defaults.
    if (!best && !lane.racer.id.empty())
      drop(lane, messages::defaults_did_not_run());
    else if (best && *best > *relative * kFamilyReach)
      drop(lane, messages::slower_than_other_file(*best / *relative));
    else if (!lane.racer.searcher->is_opening() && best && *best > *overall * reach)
      drop(lane, messages::slower_than_leader({.times = *best / *overall, .trials = std::ssize(lane.costs)}));
    lane.heat = 0;
  }
  ++heat_;
  at_ = 0;
}

void CandidateRace::drop(Lane& lane, schema::Message reason) {
  lane.dropped = true;
  dropped_.push_back({std::string(schema::kCandidateKey), {schema::Value(lane.racer.id)}, std::move(reason)});
}

std::size_t CandidateRace::remaining() const {
  // Who has not begun may turn out to be far behind: all but the first count with their defaults alone.
  const auto begins = [&](const Lane& lane) { return heat_ == 0 && lane.heat == 0 && &lane != &lanes_.front(); };
  std::size_t count = 0;
  for (const auto& lane : lanes_)
    if (lane.in_race()) count += begins(lane) ? 1 : lane.racer.searcher->remaining();
  return count;
}

std::vector<schema::PrunedParam> CandidateRace::left_out() const {
  auto all = dropped_;
  for (const auto& lane : lanes_)
    for (auto& entry : lane.racer.searcher->left_out()) {
      if (!lane.racer.id.empty())
        entry.reason = messages::of_candidate({.candidate = lane.racer.id, .why = std::move(entry.reason)});
      all.push_back(std::move(entry));
    }
  return all;
}

}  // namespace ridgeline::search
