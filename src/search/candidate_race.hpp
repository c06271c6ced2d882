// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "search/searcher.hpp"

namespace ridgeline::search {

/// Several candidates (runtimes, providers, engines), each with a search of its own, as one search: successive halving
/// (Jamieson and Talwalkar 2016). First every candidate's own start is measured; then those that are not
/// hopelessly slower than the leader (or whose search is still in its opening) get a few trials each, those still near
/// get twice as many, and so on, until the searches of those left have finished. Of a family, only those near the
/// fastest of it go on. A configuration's candidate is its
/// setting kCandidateKey; the first candidate is what the user has now, and its configurations leave the key unset.
class CandidateRace final : public Searcher {
 public:
  struct Racer {
    std::string id;  ///< "" for the first
    std::unique_ptr<Searcher> searcher;
    std::string family{};  ///< of those that settings help alike, as they are one engine with another file; "": alone
    /// Proposals before it is said not to run: 2 with SearcherOptions::opening.
    std::size_t most_starts = 1;
    /// Proposals before the next candidate starts: more where its first ones are quick and often the fastest.
    std::size_t starts = 1;
  };
  /// At least one racer.
  explicit CandidateRace(std::vector<Racer> racers);

  [[nodiscard]] std::optional<Proposal> propose() override;
  /// Of the first candidate, while it is in the race.
  [[nodiscard]] std::vector<schema::Configuration> foreseen() const override {
    return lanes_.front().in_race() ? lanes_.front().racer.searcher->foreseen() : std::vector<schema::Configuration>{};
  }
  /// Of the first candidate, where it is its turn.
  [[nodiscard]] std::vector<schema::Configuration> in_any_order() const override {
    return at_ == 0 && lanes_.front().in_race() ? lanes_.front().racer.searcher->in_any_order()
                                                : std::vector<schema::Configuration>{};
  }
  void prefer(const std::vector<schema::Configuration>& first) override {
    lanes_.front().racer.searcher->prefer(first);
  }
  void observe(const Proposal& proposal, const Observation& observation) override;
  void revise(const schema::Configuration& configuration, const Observation& observation) override;
  [[nodiscard]] std::size_t remaining() const override;
  /// With the candidates that were searched no further, as values of kCandidateKey.
  [[nodiscard]] std::vector<schema::PrunedParam> left_out() const override;

 private:
  struct Lane {
    Racer racer;
    std::map<schema::Configuration, double> costs;  ///< of what ran, the candidate's key left out
    std::size_t heat = 0;                           ///< proposals made in this heat
    bool finished = false;
    bool dropped = false;

    [[nodiscard]] std::optional<double> best() const;
    [[nodiscard]] bool has_started() const noexcept {
      return heat >= racer.starts && (!costs.empty() || heat >= racer.most_starts);
    }
    [[nodiscard]] bool in_race() const noexcept { return !finished && !dropped; }
  };

  /// The least time of the lanes for which `counts` holds.
  template <typename Counts>
  [[nodiscard]] std::optional<double> leader(Counts counts) const;
  [[nodiscard]] Lane& lane_of(const schema::Configuration& configuration);
  /// How many proposals each candidate may make in this heat.
  [[nodiscard]] std::size_t heat_size() const noexcept;
  /// Drops who is too far behind.
  void end_heat();
  void drop(Lane& lane, schema::Message reason);

  std::vector<Lane> lanes_;
  std::size_t at_ = 0;  ///< whose turn it is
  int heat_ = 0;
  std::vector<schema::PrunedParam> dropped_;
};

}  // namespace ridgeline::search
