// SPDX-License-Identifier: Apache-2.0
#include "search/candidate_race.hpp"

#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "schema/candidate.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;

/// Every number of threads from the default (unset) to 15.
std::unique_ptr<Searcher> grid(const Configuration& opening) {
  schema::Dimension threads{"intra_op_num_threads", {}};
  for (int n = 1; n <= 15; ++n) threads.values.push_back(n);
  SearcherOptions options;
  options.opening = opening;
  auto searcher = make_searcher("grid", SearchSpace({threads}, {}, {}), options);
  return std::move(*searcher);
}

class CandidateRaceTest : public testing::Test {
 protected:
  /// What the candidate takes with the setting at `threads` (0: unset).
  using Cost = std::function<std::optional<double>(std::int64_t threads)>;

  void add(const std::string& id, Cost cost, const std::string& family = "", const Configuration& opening = {}) {
    racers_.push_back({id, grid(opening), family, opening.empty() ? 1U : 2U});
    costs_[id] = std::move(cost);
  }
  /// Runs the race; how many trials each had.
  std::map<std::string, std::size_t> run() {
    race_ = std::make_unique<CandidateRace>(std::move(racers_));
    std::map<std::string, std::size_t> trials;
    while (auto proposal = race_->propose()) {
      const auto id = schema::candidate_of(proposal->configuration);
      order_.push_back(id);
      EXPECT_TRUE(seen_.insert(proposal->configuration).second) << proposal->configuration.to_text();
      ++trials[id];
      Observation observation;
      observation.cost = costs_.at(id)(proposal->configuration.get_or("intra_op_num_threads", 0).as_integer());
      observation.cost_low = observation.cost_high = observation.cost.value_or(0);
      if (observation.cost && (!best_ || *observation.cost < *best_)) {
        best_ = observation.cost;
        winner_ = proposal->configuration;
      }
      race_->observe(*proposal, observation);
    }
    return trials;
  }
  [[nodiscard]] std::string why_dropped(const std::string& id) const {
    for (const auto& left : race_->left_out())
      if (left.key == schema::kCandidateKey && left.values == std::vector<schema::Value>{id})
        return fakes::text_of(left.reason);
    return "";
  }

  std::vector<CandidateRace::Racer> racers_;
  std::map<std::string, Cost> costs_;
  std::unique_ptr<CandidateRace> race_;
  std::vector<std::string> order_;
  std::set<Configuration> seen_;
  std::optional<double> best_;
  Configuration winner_;
};

TEST_F(CandidateRaceTest, of_a_family_only_those_near_its_fastest_go_on) {
  add("", [](std::int64_t) { return 10.0; });
  add(
      "fp32", [](std::int64_t) { return 12.0; }, "cuda");
  add(
      "fp16", [](std::int64_t) { return 10.5; }, "cuda");
  add("other", [](std::int64_t) { return 12.0; });
  const auto trials = run();
  EXPECT_EQ(trials.at("fp32"), 1U);
  EXPECT_EQ(why_dropped("fp32"), "1.14 times the time of another file on the same provider");
  EXPECT_EQ(trials.at("fp16"), 16U);
  EXPECT_GT(trials.at("other"), 1U);
}

TEST_F(CandidateRaceTest, every_candidate_starts_at_its_defaults_before_any_goes_on) {
  for (const auto* id : {"", "a", "b"}) add(id, [](std::int64_t) { return 10.0; });
  run();
  EXPECT_EQ((std::vector<std::string>(order_.begin(), order_.begin() + 3)), (std::vector<std::string>{"", "a", "b"}));
}

TEST_F(CandidateRaceTest, one_with_more_starts_has_them_before_the_next_begins) {
  add("", [](std::int64_t) { return 5.0; });
  add("other", [](std::int64_t) { return 5.0; });
  racers_.front().starts = 3;
  run();
  ASSERT_GE(order_.size(), 4U);
  EXPECT_EQ((std::vector(order_.begin(), order_.begin() + 4)), (std::vector<std::string>{"", "", "", "other"}));
}

TEST_F(CandidateRaceTest, the_time_goes_to_those_that_are_near) {
  add("", [](std::int64_t) { return 10.0; });
  add("near", [](std::int64_t threads) { return 11.0 - 0.2 * static_cast<double>(threads); });
  add("far", [](std::int64_t threads) { return 40.0 - static_cast<double>(threads); });
  const auto trials = run();
  EXPECT_EQ(trials.at("far"), 1U);
  EXPECT_EQ(trials.at("near"), 16U);
  EXPECT_EQ(why_dropped("far"), "4.00 times the leader's time after 1 of its configurations");
  EXPECT_EQ(winner_, (Configuration{{"candidate", "near"}, {"intra_op_num_threads", 15}}));
}

TEST_F(CandidateRaceTest, who_stays_behind_is_dropped_after_a_few_trials) {
  add("", [](std::int64_t) { return 10.0; });
  add("slower", [](std::int64_t) { return 15.0; });
  const auto trials = run();
  EXPECT_EQ(trials.at(""), 16U);
  EXPECT_EQ(trials.at("slower"), 5U);
}

TEST_F(CandidateRaceTest, a_candidate_that_does_not_run_is_left_but_what_the_user_has_goes_on) {
  add("", [](std::int64_t threads) { return threads == 0 ? std::nullopt : std::optional(10.0); });
  add("broken", [](std::int64_t) { return std::nullopt; });
  const auto trials = run();
  EXPECT_EQ(trials.at(""), 16U);
  EXPECT_EQ(trials.at("broken"), 1U);
  EXPECT_EQ(why_dropped("broken"), "its defaults did not run");
}

TEST_F(CandidateRaceTest, a_candidate_whose_opening_does_not_run_has_its_defaults_tried_before_it_is_left) {
  add("", [](std::int64_t) { return 10.0; });
  add("opened", [](std::int64_t threads) { return threads == 0 ? 9.0 : 8.0; }, "", {{"intra_op_num_threads", 4}});
  add("falls back", [](std::int64_t threads) { return threads == 4 ? std::nullopt : std::optional(9.0); }, "",
      {{"intra_op_num_threads", 4}});
  add("broken", [](std::int64_t) { return std::nullopt; }, "", {{"intra_op_num_threads", 4}});
  const auto trials = run();
  EXPECT_EQ(trials.at("broken"), 2U);
  EXPECT_GT(trials.at("falls back"), 2U);
  EXPECT_EQ((std::vector<std::string>(order_.begin(), order_.begin() + 7)),
            (std::vector<std::string>{"", "opened", "falls back", "falls back", "broken", "broken", ""}));
}

TEST_F(CandidateRaceTest, revised_costs_count) {
  add("", [](std::int64_t) { return 10.0; });
  add("a", [](std::int64_t) { return 30.0; });
  race_ = std::make_unique<CandidateRace>(std::move(racers_));
  for (int i = 0; i < 2; ++i) {
    const auto proposal = race_->propose();
    Observation observation;
    observation.cost = i == 0 ? 10.0 : 30.0;
    race_->observe(*proposal, observation);
  }
  Observation corrected;  // the machine was slow while it was measured
  corrected.cost = 11;
  race_->revise({{"candidate", "a"}}, corrected);
  std::map<std::string, int> next;
  for (int i = 0; i < 8; ++i) {
    const auto proposal = race_->propose();
    ++next[schema::candidate_of(proposal->configuration)];
    race_->observe(*proposal, corrected);
  }
  EXPECT_EQ(next.at("a"), 4);
}

/// Slow until its setting is on, as eager PyTorch beside a compiled graph.
class LateSearcher final : public Searcher {
 public:
  std::optional<Proposal> propose() override {
    if (at_ == 8) return std::nullopt;
    Proposal proposal;
    if (at_ > 0) proposal.configuration.set("intra_op_num_threads", static_cast<int>(at_));
    ++at_;
    return proposal;
  }
  void observe(const Proposal& /*proposal*/, const Observation& /*observation*/) override {}
  void revise(const Configuration& /*configuration*/, const Observation& /*observation*/) override {}
  [[nodiscard]] std::size_t remaining() const override { return 8 - at_; }
  [[nodiscard]] bool is_opening() const override { return at_ < 7; }
  [[nodiscard]] std::vector<schema::PrunedParam> left_out() const override { return {}; }

 private:
  std::size_t at_ = 0;
};

TEST_F(CandidateRaceTest, WhoIsInTheOpeningIsNotDropped) {
  racers_.push_back({"", std::make_unique<LateSearcher>()});
  costs_[""] = [](std::int64_t threads) { return threads == 7 ? 10.0 : 900.0; };
  add("other", [](std::int64_t) { return 100.0; });
  const auto trials = run();
  EXPECT_EQ(trials.at(""), 8U);
  EXPECT_EQ(winner_, (Configuration{{"intra_op_num_threads", 7}}));
}

}  // namespace
}  // namespace ridgeline::search
